//! Opens Arrow's descriptions of columns within limits that depend on their size.
//!
//! They are flatbuffers, in which a table may be referred to any number of times, so that a few kilobytes unfold to millions of
//! columns. The limits of the decoder would let them become gigabytes.

use arrow_ipc::{Footer, Message, root_as_footer_with_opts, root_as_message_with_opts};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flatbuffers::{InvalidFlatbuffer, VerifierOptions};
use parquet::arrow::ARROW_SCHEMA_META_KEY;
use parquet::file::metadata::KeyValue;

use super::super::FormatError;
use super::super::input::Input;
use super::super::limits::MAX_ARROW_DEPTH;

/// Bytes that a table takes at least; one without fields takes these, and as many where it is referred to.
const TABLE: usize = 4;
/// Upper bound on how often a byte is read where nothing is shared but lists of fields and names.
const MOST_READ: usize = 64;

/// The limits for a description, never above those of the decoder.
fn limits(bytes: &[u8]) -> VerifierOptions {
    let most = VerifierOptions::default();
    VerifierOptions {
        max_depth: MAX_ARROW_DEPTH,
        max_tables: (bytes.len() / TABLE).min(most.max_tables),
        max_apparent_size: bytes.len().saturating_mul(MOST_READ).min(most.max_apparent_size),
        ..most
    }
}

/// Verifies a message; `damaged` makes the error if it is none.
pub(super) fn message<'m>(bytes: &'m [u8], input: &Input<'_>, damaged: impl FnOnce() -> FormatError) -> Result<Message<'m>, FormatError> {
    let limits = limits(bytes);
    root_as_message_with_opts(&limits, bytes).map_err(|why| refused(&why, bytes, &limits, input).unwrap_or_else(damaged))
}

/// Holds the footer of an Arrow file to the limits before the decoder unfolds it.
pub(super) fn footer<'f>(bytes: &'f [u8], input: &Input<'_>) -> Result<Footer<'f>, FormatError> {
    let (limits, damaged) = (limits(bytes), || input.malformed("footer", "it is damaged"));
    root_as_footer_with_opts(&limits, bytes).map_err(|why| refused(&why, bytes, &limits, input).unwrap_or_else(damaged))
}

/// Checks the description of columns that a Parquet file may carry beside its own.
pub(super) fn check_embedded(entries: Option<&Vec<KeyValue>>, input: &Input<'_>) -> Result<(), FormatError> {
    let values = entries.into_iter().flatten().filter(|entry| entry.key == ARROW_SCHEMA_META_KEY).filter_map(|entry| entry.value.as_ref());
    for value in values {
        // The decoder says what else is wrong.
        let Ok(bytes) = BASE64_STANDARD.decode(value) else { continue };
        let bytes = if bytes.len() > 8 && bytes.starts_with(&[0xff; 4]) { &bytes[8..] } else { &bytes };
        let limits = limits(bytes);
        if let Err(why) = root_as_message_with_opts(&limits, bytes)
            && let Some(refusal) = refused(&why, bytes, &limits, input)
        {
            return Err(refusal);
        }
    }
    Ok(())
}

/// The error, if a limit is why.
fn refused(why: &InvalidFlatbuffer, bytes: &[u8], limits: &VerifierOptions, input: &Input<'_>) -> Option<FormatError> {
    let unfolds = |most: usize, what: &str| {
        let why = format!("its {} bytes unfold to more than {most} {what}, which is the most that is read", bytes.len());
        Some(input.unsupported("description of columns", why))
    };
    match why {
        InvalidFlatbuffer::DepthLimitReached => {
            let why = format!("it nests more than {MAX_ARROW_DEPTH} deep, which is the most that is read");
            Some(input.unsupported("description of columns", why))
        }
        InvalidFlatbuffer::TooManyTables => unfolds(limits.max_tables, "tables"),
        InvalidFlatbuffer::ApparentSizeTooLarge => unfolds(limits.max_apparent_size, "bytes"),
        _ => None,
    }
}
