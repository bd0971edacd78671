//! Checks XML before the decoder's parser gets it, which takes time with the cube of the namespaces that nest, and with the
//! square of the attributes of an element.

use super::super::limits::{MAX_XML_ATTRIBUTES, MAX_XML_DEPTH, MAX_XML_NAMESPACES};

/// Checks nesting and attributes. What is no XML is left to the parser.
///
/// `Err` says what there is too much of.
pub(super) fn check(xml: &[u8]) -> Result<(), String> {
    let (mut rest, mut depth, mut deepest) = (xml, 0usize, 0);
    // The namespaces that each open element declares, of the outer ones.
    let mut declared: Vec<usize> = Vec::new();
    while let Some(at) = rest.iter().position(|&byte| byte == b'<') {
        rest = &rest[at..];
        let end = match rest {
            [b'<', b'!', b'-', b'-', ..] => after(rest, 4, b"-->"),
            [b'<', b'!', b'[', ..] => after(rest, 3, b"]]>"),
            [b'<', b'?', ..] => after(rest, 2, b"?>"),
            // A document type, which the parser refuses.
            [b'<', b'!', ..] => None,
            [b'<', b'/', ..] => {
                depth = depth.saturating_sub(1);
                declared.truncate(depth);
                after(rest, 2, b">")
            }
            _ => {
                let tag = Tag::of(rest);
                if tag.attributes > MAX_XML_ATTRIBUTES {
                    return Err(format!("an element has more than {MAX_XML_ATTRIBUTES} attributes, which are the most that are read"));
                }
                deepest = deepest.max(depth + 1);
                if depth < MAX_XML_DEPTH {
                    declared.push(tag.namespaces);
                    let namespaces: usize = declared.iter().sum();
                    if namespaces > MAX_XML_NAMESPACES {
                        return Err(format!(
                            "elements within one another declare {namespaces} namespaces, and the most that are read are {MAX_XML_NAMESPACES}"
                        ));
                    }
                }
                depth += 1;
                if tag.empty {
                    depth -= 1;
                    declared.truncate(depth);
                }
                tag.end
            }
        };
        let Some(end) = end else { break };
        rest = &rest[end..];
    }
    if deepest > MAX_XML_DEPTH { Err(format!("elements nest {deepest} deep, and the most that is read is {MAX_XML_DEPTH}")) } else { Ok(()) }
}

/// The place after the first `end`, from `start` on.
fn after(text: &[u8], start: usize, end: &[u8]) -> Option<usize> {
    text[start..].windows(end.len()).position(|window| window == end).map(|at| start + at + end.len())
}

/// The tag that begins an element.
#[derive(Default)]
struct Tag {
    attributes: usize,
    /// The attributes that declare a namespace.
    namespaces: usize,
    /// Whether it also ends the element.
    empty: bool,
    /// The place after it, if it ends.
    end: Option<usize>,
}

impl Tag {
    /// Reads a tag, of one with too many attributes only the beginning.
    fn of(text: &[u8]) -> Self {
        // The name of an attribute is between the end of the value before and its `=`, so that no byte is looked at again and again.
        let (mut tag, mut quote, mut name) = (Self::default(), None, 0);
        for (at, &byte) in text.iter().enumerate() {
            match (quote, byte) {
                (Some(open), _) if byte == open => (quote, name) = (None, at + 1),
                (Some(_), _) => {}
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'=') => {
                    tag.attributes += 1;
                    if tag.attributes > MAX_XML_ATTRIBUTES {
                        break;
                    }
                    let word = text[name..at].trim_ascii().rsplit(u8::is_ascii_whitespace).next();
                    tag.namespaces += usize::from(word.is_some_and(|word| word.starts_with(b"xmlns")));
                    name = at + 1;
                }
                (None, b'>') => {
                    (tag.empty, tag.end) = (text[at - 1] == b'/', Some(at + 1));
                    break;
                }
                _ => {}
            }
        }
        tag
    }
}
