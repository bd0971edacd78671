//! A walk over a value of thrift's compact protocol, as the decoder will read it but without recursion and without memory
//! for what it finds.

use super::super::super::limits::MAX_THRIFT_DEPTH;

/// The fields of a struct that the decoder knows. It reads those as what they should be, whatever the file says they are.
pub(super) struct Shape {
    pub name: &'static str,
    pub fields: &'static [(i16, Kind)],
}

/// What a field holds.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Bool,
    Byte,
    /// Of any width.
    Int,
    Double,
    Binary,
    Struct(&'static Shape),
    List(&'static Self),
}

/// Something of a known struct.
pub(super) enum Event {
    Int {
        of: &'static Shape,
        field: i16,
        value: i64,
    },
    /// A text or bytes, of this length.
    Binary {
        of: &'static Shape,
        field: i16,
        length: usize,
    },
    End {
        of: &'static Shape,
    },
}

/// What is being read.
enum Frame {
    /// A struct, after the field `last`.
    Struct {
        shape: Option<&'static Shape>,
        last: i16,
    },
    List {
        left: u64,
        of: u8,
        kind: Option<Kind>,
    },
    /// Keys and values in turn; `left` counts both.
    Map {
        left: u64,
        of: [u8; 2],
    },
}

impl Kind {
    /// Whether bytes of this type of the protocol are read as what they are.
    fn is(self, wire: u8) -> bool {
        match self {
            Self::Bool => matches!(wire, 1 | 2),
            Self::Byte => wire == 3,
            Self::Int => matches!(wire, 4..=6),
            Self::Double => wire == 7,
            Self::Binary => wire == 8,
            Self::List(_) => matches!(wire, 9 | 10),
            Self::Struct(_) => wire == 12,
        }
    }
}

/// Walks over a struct and tells `each` what is in it. Returns the number of its bytes, which others may follow.
///
/// `Err` says why the decoder should not be given these bytes.
pub(super) fn walk(bytes: &[u8], shape: &'static Shape, each: &mut dyn FnMut(Event) -> Result<(), String>) -> Result<usize, String> {
    let mut rest = Rest(bytes);
    // Truth values in lists are read as if they took no bytes, so that a few bytes could promise thousands of millions in each
    // of many lists. All elements of honest lists together are no more than the bytes.
    let mut elements = bytes.len() as u64;
    let mut frames = vec![Frame::Struct { shape: Some(shape), last: 0 }];
    while let Some(frame) = frames.last_mut() {
        // The next value: its type, what it should be, and the field of a known struct.
        let (wire, kind, field) = match frame {
            Frame::Struct { shape, last } => {
                let shape = *shape;
                let head = rest.byte()?;
                if head & 15 == 0 {
                    frames.pop();
                    if let Some(of) = shape {
                        each(Event::End { of })?;
                    }
                    continue;
                }
                let field = match head >> 4 {
                    0 => rest.int()? as i16,
                    step => last.checked_add(step.into()).ok_or("a number of a field is too large")?,
                };
                // Of structs that are passed over, the decoder does not number the fields.
                *last = if shape.is_some() { field } else { 0 };
                let kind = shape.and_then(|shape| shape.fields.iter().find(|(known, _)| *known == field)).map(|(_, kind)| *kind);
                let wire = head & 15;
                if let (Some(shape), Some(kind)) = (shape, kind)
                    && !kind.is(wire)
                {
                    return Err(format!("field {field} of {} is of another type", shape.name));
                }
                (wire, kind, shape.filter(|_| kind.is_some()).map(|of| (of, field)))
            }
            Frame::List { left: 0, .. } | Frame::Map { left: 0, .. } => {
                frames.pop();
                continue;
            }
            Frame::List { left, of, kind } => {
                *left -= 1;
                (*of, *kind, None)
            }
            Frame::Map { left, of } => {
                *left -= 1;
                (of[usize::from(*left % 2 == 0)], None, None)
            }
        };
        let mut count = |rest: &Rest<'_>, count: u64| {
            if count > elements || count > rest.0.len() as u64 {
                return Err(format!("a list promises {count} elements, and {} bytes follow", rest.0.len()));
            }
            elements -= count;
            Ok(count)
        };
        let inner = match wire {
            1 | 2 => None,
            3 => rest.skip(1).map(|()| None)?,
            4..=6 => {
                let value = rest.int()?;
                if let Some((of, field)) = field {
                    each(Event::Int { of, field, value })?;
                }
                None
            }
            7 => rest.skip(8).map(|()| None)?,
            8 => {
                let length = usize::try_from(rest.varint()?).unwrap_or(usize::MAX);
                rest.skip(length)?;
                if let Some((of, field)) = field {
                    each(Event::Binary { of, field, length })?;
                }
                None
            }
            9 | 10 => {
                let head = rest.byte()?;
                let left = if head >> 4 == 15 { rest.varint()? } else { u64::from(head >> 4) };
                let left = count(&rest, left)?;
                let kind = if let Some(Kind::List(kind)) = kind { Some(*kind) } else { None };
                if left > 0 && kind.is_some_and(|kind| !kind.is(head & 15)) {
                    return Err("the elements of a list are of another type".to_owned());
                }
                Some(Frame::List { left, of: head & 15, kind })
            }
            11 => {
                let left = rest.varint()?;
                let of = if left > 0 { rest.byte()? } else { 0 };
                Some(Frame::Map { left: count(&rest, left.saturating_mul(2))?, of: [of >> 4, of & 15] })
            }
            12 => Some(Frame::Struct { shape: if let Some(Kind::Struct(shape)) = kind { Some(shape) } else { None }, last: 0 }),
            13 => rest.skip(16).map(|()| None)?,
            other => return Err(format!("there is no type {other}")),
        };
        if let Some(inner) = inner {
            if frames.len() == MAX_THRIFT_DEPTH {
                return Err(format!("it nests more than {MAX_THRIFT_DEPTH} deep"));
            }
            frames.push(inner);
        }
    }
    Ok(bytes.len() - rest.0.len())
}

/// The bytes that are left.
pub(super) struct Rest<'a>(pub &'a [u8]);

impl Rest<'_> {
    pub fn skip(&mut self, count: usize) -> Result<(), String> {
        self.0 = self.0.get(count..).ok_or("it is cut short")?;
        Ok(())
    }

    pub fn byte(&mut self) -> Result<u8, String> {
        let byte = *self.0.first().ok_or("it is cut short")?;
        self.0 = &self.0[1..];
        Ok(byte)
    }

    pub fn varint(&mut self) -> Result<u64, String> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number is longer than 64 bits".to_owned())
    }

    /// A signed number, stored with its sign in the lowest bit.
    fn int(&mut self) -> Result<i64, String> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}
