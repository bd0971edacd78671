//! Detects the structure of a JSON text from its beginning.

/// How points are arranged in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// One array, whose elements are points.
    Array,
    /// One object, with the points somewhere inside.
    Object,
    /// One value per point, in sequence: JSON Lines.
    Lines,
}

impl Shape {
    /// Detects the structure from the beginning of a text, or all of it if `whole`. `lines`: the
    /// extension implies JSON Lines.
    pub fn of(head: &[u8], whole: bool, lines: bool) -> Self {
        let head = head.trim_ascii_start();
        let array = head.first() == Some(&b'[');
        let nested = array && matches!(head[1..].trim_ascii_start().first(), Some(b'[' | b'{'));
        let after = end_of_value(head).map(|end| head[end..].trim_ascii_start());
        match after {
            // Another value follows the first.
            Some([_, ..]) => Self::Lines,
            _ if !matches!(head.first(), Some(b'[' | b'{')) => Self::Lines,
            // Either a point, or numbers that are one point each.
            Some([]) if whole => match array {
                true if lines && !nested => Self::Lines,
                true => Self::Array,
                false if lines => Self::Lines,
                false => Self::Object,
            },
            _ if nested => Self::Array,
            _ if lines => Self::Lines,
            _ if array => Self::Array,
            _ => Self::Object,
        }
    }
}

/// Whether a text begins like JSON and unlike any other text format.
pub(in super::super) fn looks(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let Some((first, rest)) = head.split_first() else { return false };
    let next = rest.trim_ascii_start().first().copied().unwrap_or(0);
    match first {
        b'[' => matches!(next, b'[' | b'{' | b'-' | b'"' | b'n') || next.is_ascii_digit(),
        b'{' => next == b'"',
        _ => false,
    }
}

/// Whether a text is a valid prefix of JSON: one value, or several arrays or objects.
pub(in super::super) fn begins(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<serde::de::IgnoredAny>();
    looks(head)
        && match values.next() {
            Some(Ok(_)) => matches!(text[values.byte_offset()..].trim_ascii_start().first(), None | Some(b'[' | b'{')),
            Some(Err(why)) => why.is_eof(),
            None => false,
        }
}

/// The length of the first array or object, if it ends within this text.
fn end_of_value(text: &[u8]) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for (at, &byte) in text.iter().enumerate() {
        if quoted {
            (quoted, escaped) = (escaped || byte != b'"', !escaped && byte == b'\\');
            continue;
        }
        match byte {
            b'"' => quoted = true,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_told_apart() {
        for (text, lines, shape) in [
            ("[[1,2],[3,4]]", false, Shape::Array),
            (" [ {\"a\":1} ]\n", false, Shape::Array),
            ("[[1,2],[3,4]]", true, Shape::Array),
            ("[1,2,3]", false, Shape::Array),
            ("[1,2,3]", true, Shape::Lines),
            ("[1,2]\n[3,4]\n", false, Shape::Lines),
            ("{\"a\":\"}\\\"\"}\n{\"a\":2}", false, Shape::Lines),
            ("{\"a\":[[1]]}\n", false, Shape::Object),
            ("{\"a\":1}\n", true, Shape::Lines),
            ("1\n2\n", false, Shape::Lines),
        ] {
            assert_eq!(Shape::of(text.as_bytes(), true, lines), shape, "{text:?}");
        }
        // Of a long text there is the beginning only.
        assert_eq!(Shape::of(b"[1,2,3,", false, true), Shape::Lines);
        assert_eq!(Shape::of(b"[1,2,3,", false, false), Shape::Array);
        assert_eq!(Shape::of(b"[[1,2,3,", false, true), Shape::Array);
        assert_eq!(Shape::of(b"{\"a\":[[", false, false), Shape::Object);
    }

    #[test]
    fn a_table_that_begins_with_a_bracket_is_no_json() {
        for text in ["[[1,2],[3", "[1,2]\n[3,4]\n", "{\"a\":1}", " [\n {\"x\": 1"] {
            assert!(begins(text.as_bytes()), "{text:?}");
        }
        for text in ["[1,2],3\n", "[1,2] x\n", "[-a,b\n", "1,2\n"] {
            assert!(!begins(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn json_begins_in_a_way_of_its_own() {
        for text in ["[[1", " [ -1", "{\"a\"", "[\n  {", "\u{feff}[1"] {
            assert!(looks(text.as_bytes()), "{text:?}");
        }
        for text in ["[x] 1", "{1,2}", "1 2", "[#", "{}", ""] {
            assert!(!looks(text.as_bytes()), "{text:?}");
        }
    }
}
