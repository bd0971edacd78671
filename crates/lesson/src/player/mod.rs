//! A lesson as a page that plays in a browser: one HTML file with its data, script, style and fonts, which
//! needs no network and no program.
//!
//! The page draws what the window draws: the shapes of each moment are those of
//! [`draw`](super::picture::draw), written once each. `docs/lesson-page.md` describes the file.
//!
//! - [`items`]: scenes as flat lists of items, and these by columns; a hash of what a moment draws, for tests
//!   of pages
//! - [`mod@pack`]: tables of what repeats, lists as changes of earlier ones, motions as rows of numbers
//! - [`data`]: the moments of a lesson with these tables, its questions, and where panels are
//! - `page.html`, `player.css`: the page around the data, and its style
//! - `draw.js`, `move.js`, `player.js`, `questions.js`, `start.js`: its script: panels; what moves; playing;
//!   questions; keys, touch and the beginning

pub mod data;
pub mod items;
pub mod pack;

use std::collections::BTreeSet;
use std::io::{self, Write};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::cursor::Level;
use super::moments::Moments;
use super::picture::Film;
use crate::draw::Font;
use crate::draw::fonts::FontSubsets;
use crate::draw::svg::{self, escaped};
use crate::memory::Short;
use crate::palette::{DARK, LIGHT};
use crate::progress::Progress;
use data::{Data, beginning, pack};

/// Bytes of a page at most. Where a lesson takes more, its finest levels are left out.
pub const MOST_BYTES: usize = 3_000_000;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("player.css");
const SCRIPT: &str = concat!(
    include_str!("draw.js"),
    include_str!("move.js"),
    include_str!("player.js"),
    include_str!("questions.js"),
    include_str!("start.js")
);

/// What of a lesson is in a page that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The finest level that the page can stop at.
    pub finest: Level,
    /// Moments that it can show.
    pub moments: usize,
    /// Why finer levels are left out, where memory is the reason.
    pub short: Option<Short>,
}

/// Writes the page of a film, from the first to the last of `moments`; of several takes, one can be chosen on
/// it. It begins at the level of `moments`, and follows the reader's light or dark setting.
///
/// # Errors
/// I/O errors of the writer, [`io::ErrorKind::Interrupted`] if `progress` is cancelled, and
/// [`io::ErrorKind::OutOfMemory`] with a [`Short`], where the coarsest level needs more memory than is free.
pub fn write(
    film: &Film,
    moments: &Moments,
    progress: &dyn Progress,
    out: &mut (impl Write + ?Sized),
) -> io::Result<Written> {
    let (page, written) = within(MOST_BYTES, film, moments, progress)?;
    out.write_all(page.as_bytes())?;
    Ok(written)
}

/// The page with the finest levels that it can have in so many bytes and with the memory that is free; with
/// the coarsest alone, as large as it is.
fn within(
    most: usize,
    film: &Film,
    moments: &Moments,
    progress: &dyn Progress,
) -> io::Result<(String, Written)> {
    let range = moments.all.first().copied().unwrap_or(0)..=moments.all.last().copied().unwrap_or(0);
    let mut short = None;
    for finest in Level::ALL.into_iter().rev() {
        let packed = match pack(film, &range, moments.level, finest, progress) {
            Err(error) if finest != Level::Search && lacks_memory(&error).is_some() => {
                short = lacks_memory(&error);
                None
            }
            packed => packed?,
        };
        if let Some(data) = packed {
            let page = page(&beginning(film, &range, moments.level, finest, progress)?, &data)?;
            if page.len() <= most || finest == Level::Search {
                return Ok((
                    page,
                    Written { finest, moments: data.takes.iter().map(|take| take.at.len()).sum(), short },
                ));
            }
        }
    }
    Err(io::Error::other("the search has more steps than a page can hold; choose fewer with --from and --to"))
}

/// How much memory is missing, if that is what an error says.
fn lacks_memory(error: &io::Error) -> Option<Short> {
    error.get_ref()?.downcast_ref().copied()
}

/// JSON as the page has it.
fn packed(json: &str) -> io::Result<String> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(json.as_bytes())?;
    Ok(BASE64_STANDARD.encode(packed.finish()?))
}

/// The page with its data; those of its first moment alone are drawn before the others are unpacked.
fn page(first: &Data, data: &Data) -> io::Result<String> {
    let json = serde_json::to_string(data)?;
    // A font of the page has what it says, and nothing else.
    let letters: BTreeSet<char> =
        [&json, TEMPLATE, SCRIPT].into_iter().flat_map(str::chars).chain(' '..='~').collect();
    let (letters, mut subsets) = (String::from_iter(letters), FontSubsets::default());
    [Font::Sans, Font::Mono].into_iter().for_each(|font| subsets.add(&letters, font));
    let colors = format!(
        ":root{{{}}}\n@media(prefers-color-scheme:dark){{:root:not([data-look=light]){{{dark}}}}}\n:\
         root[data-look=dark]{{{dark}}}",
        svg::variables(&LIGHT),
        dark = svg::variables(&DARK)
    );
    let (policy, title) = (svg::policy(true), escaped(&data.heading()));
    let parts = [
        ("{policy}", policy.as_str()),
        ("{title}", &title),
        ("{fonts}", &subsets.style()),
        ("{colors}", &colors),
        ("{style}", STYLE),
        ("{first}", &packed(&serde_json::to_string(first)?)?),
        ("{data}", &packed(&json)?),
        ("{script}", SCRIPT),
    ];
    Ok(filled(TEMPLATE, &parts))
}

/// A template with its parts in their places.
fn filled(template: &str, parts: &[(&str, &str)]) -> String {
    let mut page =
        String::with_capacity(template.len() + parts.iter().map(|(_, part)| part.len()).sum::<usize>());
    let mut rest = template;
    // From the front: what is put in is not looked through.
    while let Some((at, name, part)) =
        parts.iter().filter_map(|(name, part)| Some((rest.find(name)?, name, part))).min()
    {
        page.push_str(&rest[..at]);
        page.push_str(part);
        rest = &rest[at + name.len()..];
    }
    page + rest
}

#[cfg(test)]
mod tests;
