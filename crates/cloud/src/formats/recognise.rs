//! Determines the format of a file.

use std::io::Read;
use std::path::Path;

use super::input::Input;
use super::{FOREIGN, Foreign, Format, FormatError, GZIP, JSON, LIBSVM, NPZ, json, known_extensions, npz, registry, unpacked};

/// Bytes sampled from the start of a file.
const HEAD: u64 = 1 << 16;
/// Extensions that only say "text": the content may be of any text format.
const ANY_TEXT: [&str; 4] = ["txt", "dat", "text", "xyz"];

/// The format of a file; it must support several clouds if one is named.
pub(super) fn recognise(input: &Input<'_>) -> Result<&'static Format, FormatError> {
    let format = recognise_name(input)?;
    if let (None, Some(name)) = (format.parts, input.part()) {
        return Err(input.malformed(format!("part `{name}`"), format!("{} holds one cloud; leave the name out", article(format.name))));
    }
    Ok(format)
}

/// The format that the extension and the first bytes agree on.
fn recognise_name(input: &Input<'_>) -> Result<&'static Format, FormatError> {
    let mut head = Vec::new();
    // Files in /proc report a length of 0, and reading one such as /proc/kmsg can block.
    if input.size() > 0 {
        input.open()?.take(HEAD).read_to_end(&mut head).map_err(|why| input.io(why))?;
    }
    if head.is_empty() {
        return Err(input.malformed("nothing to read", "the file is empty"));
    }
    let name = input.path().file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let (name, gz_name) = name.strip_suffix(".gz").map_or((name.as_str(), false), |inner| (inner, true));
    let extension = Path::new(name).extension().map(|extension| extension.to_string_lossy().into_owned()).unwrap_or_default();
    let gzip = head.starts_with(GZIP);
    if gz_name && !gzip {
        return Err(input.malformed("named .gz", "it does not begin like gzip; is it damaged, or renamed?"));
    }

    let by_extension = registry().iter().find(|format| format.extensions.contains(&extension.as_str()));
    let by_looks = |head: &[u8]| registry().iter().find(|format| (format.looks)(head));
    let open = by_extension.is_none() || ANY_TEXT.contains(&extension.as_str());
    let by_magic = registry().iter().find(|format| format.begins(&head));
    if input.skipped() > 0 {
        // What the first lines look like says nothing of the others.
        let text = &registry()[0];
        return match by_magic.or(by_extension).filter(|format| format.name != text.name) {
            Some(format) => {
                Err(input.unsupported("lines to pass over", format!("{} is not read line by line; skip-lines is for text", article(format.name))))
            }
            None => Ok(text),
        };
    }
    if extension == "warpscope" || head.starts_with(b"PK") && npz::has(input, "recording.json") {
        return Err(input.unsupported("a recording of runs", "open it with `warpscope FILE`, or give the data that it was made of"));
    }
    let text = if gzip && open { unpacked_head(input)? } else { head.clone() };
    // Many formats are zip archives.
    if by_magic.is_none_or(|format| format.name == NPZ)
        && let Some(Foreign(what, _, _, way_out)) = FOREIGN.iter().find(|Foreign(what, names, magic, _)| {
            !magic.is_empty() && head.starts_with(magic)
                || by_extension.is_none() && names.contains(&extension.as_str())
                || *what == LIBSVM && is_libsvm(&text)
        })
    {
        return Err(input.unsupported(format!("{what} files are not read"), *way_out));
    }
    if gzip {
        if let Some(format) = by_extension.filter(|format| !format.gzip) {
            return Err(input.unsupported(format!("gzip around {}", article(format.name)), "unpack it first, with gunzip"));
        }
        let found = if open { by_looks(&text).filter(|format| format.gzip) } else { None };
        return Ok(found.or(by_extension).unwrap_or(&registry()[0]));
    }
    let by_looks = || if open { by_looks(&head) } else { None };
    match (by_extension, by_magic) {
        (Some(named), Some(found)) if named.name != found.name => {
            let why = format!("it begins like {}; rename it to .{}", article(found.name), found.extensions[0]);
            Err(input.malformed(format!("named .{extension}"), why))
        }
        (Some(named), None) if !named.magic.is_empty() && !(named.looks)(&head) => {
            let why = format!("it does not begin like {}; is it damaged, or renamed?", article(named.name));
            Err(input.malformed(format!("named .{extension}"), why))
        }
        (Some(named), None) if !open && named.magic.is_empty() && named.name != JSON && json::begins(&head) => {
            Err(input.malformed(format!("named .{extension}"), "it looks like JSON; rename it to .json"))
        }
        (None, Some(format)) => Ok(format),
        (Some(format), _) => Ok(by_looks().unwrap_or(format)),
        (None, None) => match by_looks() {
            Some(format) => Ok(format),
            None if head.contains(&0) => {
                Err(input.unsupported("unknown format", format!("neither its extension nor its first bytes are known; {}", known_extensions())))
            }
            None => Ok(&registry()[0]),
        },
    }
}

/// Whether each of the first lines of a text has a label and then only `index:value`, by ascending index. Read as columns, the label would be
/// the only number.
fn is_libsvm(head: &[u8]) -> bool {
    /// More than that tell no more.
    const LINES: usize = 100;
    let text = String::from_utf8_lossy(head);
    // The last line may be cut, unless it is the only one.
    let whole = text.rfind('\n').map_or(&*text, |end| &text[..end]);
    let lines = whole.lines().map(|line| line.split('#').next().unwrap_or_default()).filter(|line| !line.trim().is_empty());
    // Of each line, how many values it has.
    let Some(counts) = lines.take(LINES).map(sparse_values).collect::<Option<Vec<_>>>() else { return false };
    // One on each line may be a ratio, or a score.
    counts.iter().any(|&count| count > 1) || counts.iter().any(|&count| count != counts[0])
}

/// The number of values on a line of a LIBSVM file; `None` if it is no such line.
fn sparse_values(line: &str) -> Option<usize> {
    let mut fields = line.split_ascii_whitespace();
    fields.next()?.parse::<f64>().ok()?;
    let mut pairs: Vec<(&str, &str)> = fields.map(|field| field.split_once(':')).collect::<Option<_>>()?;
    if pairs.first().is_some_and(|&(index, _)| index == "qid") {
        pairs.remove(0);
    }
    let time = |&(hours, minutes): &(&str, &str)| hours.len() <= 2 && minutes.len() == 2 && minutes < "60";
    let indices = pairs.iter().map(|(index, value)| value.parse::<f64>().ok().and(index.parse::<u32>().ok())).collect::<Option<Vec<_>>>()?;
    let times = !pairs.is_empty() && pairs.iter().all(time);
    (!times && indices.is_sorted_by(|one, next| one < next)).then_some(pairs.len())
}

/// A format's name with its indefinite article.
fn article(name: &str) -> String {
    let vowel = name.starts_with(['A', 'E', 'H', 'I', 'X']);
    format!("{} {name}", if vowel { "an" } else { "a" })
}

/// The beginning of a gzip file's content, as far as it can be decompressed.
fn unpacked_head(input: &Input<'_>) -> Result<Vec<u8>, FormatError> {
    let mut head = Vec::new();
    match unpacked::bytes(input)?.0.take(HEAD).read_to_end(&mut head) {
        // The reader will report the error.
        Err(_) if !input.cancelled() => Ok(head),
        Err(why) => Err(input.io(why)),
        Ok(_) => Ok(head),
    }
}
