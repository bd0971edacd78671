//! Numbers of a data set, of any element type.

use hdf5_reader::datatype_api::H5Type;
use hdf5_reader::error::Error;
use hdf5_reader::{ByteOrder, Datatype};

use crate::formats::number::{Endian, Number};

/// A number widened to f64 as it is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value(pub f64);

/// The element type of a data set, or the reason it is not numeric.
pub(super) fn element(dtype: &Datatype) -> Result<(Number, Endian), String> {
    let (number, order) = match dtype {
        Datatype::FixedPoint { size, signed, byte_order } => {
            let number = match (size, signed) {
                (1, true) => Number::I8,
                (1, false) => Number::U8,
                (2, true) => Number::I16,
                (2, false) => Number::U16,
                (4, true) => Number::I32,
                (4, false) => Number::U32,
                (8, true) => Number::I64,
                (8, false) => Number::U64,
                _ => return Err(format!("its integers have {size} bytes")),
            };
            (number, byte_order)
        }
        Datatype::FloatingPoint { size, byte_order } => {
            let number = match size {
                2 => Number::F16,
                4 => Number::F32,
                8 => Number::F64,
                _ => return Err(format!("its floats have {size} bytes; store 32- or 64-bit ones")),
            };
            (number, byte_order)
        }
        // How h5py stores booleans.
        Datatype::Enum { base, .. } => return element(base),
        Datatype::String { .. } => return Err("it is text".to_owned()),
        Datatype::VarLen { .. } => return Err("its rows differ in length".to_owned()),
        Datatype::Compound { .. } => return Err("its elements are records; store their numbers as columns".to_owned()),
        _ => return Err("its elements are no numbers".to_owned()),
    };
    Ok((number, if *order == ByteOrder::BigEndian { Endian::Big } else { Endian::Little }))
}

impl H5Type for Value {
    fn hdf5_type() -> Datatype {
        Datatype::FloatingPoint { size: 8, byte_order: ByteOrder::LittleEndian }
    }

    fn from_bytes(bytes: &[u8], dtype: &Datatype) -> Result<Self, Error> {
        let (number, endian) = element(dtype).map_err(Error::InvalidData)?;
        let bytes = bytes.get(..number.size()).ok_or_else(|| Error::InvalidData("an element is cut short".to_owned()))?;
        Ok(Self(number.one(endian, bytes)))
    }

    fn element_size(dtype: &Datatype) -> usize {
        element(dtype).map_or(1, |(number, _)| number.size())
    }

    fn decode_vec(raw: &[u8], dtype: &Datatype, count: usize) -> Option<Result<Vec<Self>, Error>> {
        let (number, endian) = element(dtype).ok()?;
        let bytes = raw.get(..count.checked_mul(number.size())?)?;
        let mut values: Vec<f64> = Vec::new();
        number.decode(endian, bytes, &mut values);
        Some(Ok(values.into_iter().map(Self).collect()))
    }
}
