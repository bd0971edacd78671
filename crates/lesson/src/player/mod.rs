//! A lesson as a page that plays in a browser: one HTML file with its data, script, style and fonts, which
//! needs no network and no program.
//!
//! The page draws the same shapes as the window ([`draw`](super::picture::draw)), each written once.
//! `docs/lesson-page.md` describes the file.
//!
//! - [`items`]: scenes as flat lists of items, stored by column; a hash of each moment, for tests of pages
//! - [`mod@pack`]: tables of repeated values, lists as edits of earlier ones, motions as rows of numbers
//! - [`data`]: the moments of a lesson with these tables, its questions, and the layout of panels
//! - `page.html`, `player.css`: the page around the data, and its style
//! - `draw.js`, `move.js`, `player.js`, `questions.js`, `scorm.js`, `start.js`: its script: panels; motion; the
//!   player; questions; the score for a learning platform; keys, touch and the start
//! - [`site`]: the index of all lessons, the links between them, and the manifest of a SCORM package

pub mod data;
pub mod items;
pub mod pack;
pub mod site;

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
use crate::memory::InsufficientMemory;
use crate::palette::{DARK, LIGHT};
use crate::progress::Progress;
use data::{PageData, pack, pack_first_moment};

/// Maximum size of a page in bytes. A larger lesson loses its finest levels.
pub const MAX_PAGE_BYTES: usize = 3_000_000;

/// The program's version, in each page and in links to its steps.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("player.css");
const SCRIPT: &str = concat!(
    include_str!("draw.js"),
    include_str!("move.js"),
    include_str!("player.js"),
    include_str!("questions.js"),
    include_str!("scorm.js"),
    include_str!("start.js")
);

/// The content of a written page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSummary {
    /// The finest level in the page.
    pub finest: Level,
    /// Number of moments.
    pub moments: usize,
    /// The memory that was missing for finer levels, if that is why they are absent.
    pub short: Option<InsufficientMemory>,
}

/// Writes the page of a film, from the first to the last of `moments`; readers can switch between takes. It
/// begins at the level of `moments`, and follows the reader's light or dark setting.
///
/// # Errors
/// I/O errors of the writer, [`io::ErrorKind::Interrupted`] if `progress` is cancelled, and
/// [`io::ErrorKind::OutOfMemory`] with an [`InsufficientMemory`], where the coarsest level needs more memory
/// than is free.
pub fn write(
    film: &Film,
    moments: &Moments,
    progress: &dyn Progress,
    out: &mut (impl Write + ?Sized),
) -> io::Result<PageSummary> {
    let (page, written) = fit_page(MAX_PAGE_BYTES, "", film, moments, progress)?;
    out.write_all(page.as_bytes())?;
    Ok(written)
}

/// The page of a film, as [`write()`] writes it, with links to the other lessons of a site.
///
/// # Errors
/// As for [`write()`].
pub fn site_page(
    film: &Film,
    moments: &Moments,
    progress: &dyn Progress,
) -> io::Result<(String, PageSummary)> {
    fit_page(MAX_PAGE_BYTES, &site::navigation(&film.lesson), film, moments, progress)
}

/// The page with the finest levels that fit into `most` bytes and free memory; the coarsest level is written
/// whatever its size.
fn fit_page(
    most: usize,
    navigation: &str,
    film: &Film,
    moments: &Moments,
    progress: &dyn Progress,
) -> io::Result<(String, PageSummary)> {
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
            let first = pack_first_moment(film, &range, moments.level, finest, progress)?;
            let page = page(navigation, &first, &data)?;
            if page.len() <= most || finest == Level::Search {
                return Ok((
                    page,
                    PageSummary { finest, moments: data.takes.iter().map(|take| take.at.len()).sum(), short },
                ));
            }
        }
    }
    Err(io::Error::other("the search has more steps than a page can hold; choose fewer with --from and --to"))
}

/// The missing memory, if an error is about that.
fn lacks_memory(error: &io::Error) -> Option<InsufficientMemory> {
    error.get_ref()?.downcast_ref().copied()
}

/// Compresses and encodes JSON for the page.
fn compress(json: &str) -> io::Result<String> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(json.as_bytes())?;
    Ok(BASE64_STANDARD.encode(packed.finish()?))
}

/// The page with its data; `first` is drawn before the rest is unpacked.
fn page(navigation: &str, first: &PageData, data: &PageData) -> io::Result<String> {
    let json = serde_json::to_string(data)?;
    let parts = [
        ("{title}", escaped(&data.heading())),
        ("{nav}", navigation.to_owned()),
        ("{first}", compress(&serde_json::to_string(first)?)?),
        ("{data}", compress(&json)?),
        ("{script}", SCRIPT.to_owned()),
    ];
    let letters = [&json, TEMPLATE, SCRIPT, navigation];
    Ok(styled(TEMPLATE, &letters, true, parts))
}

/// A template with its parts, style, colours and version. Its fonts are reduced to these letters.
fn styled<const PARTS: usize>(
    template: &str,
    letters: &[&str],
    has_script: bool,
    parts: [(&'static str, String); PARTS],
) -> String {
    let letters: BTreeSet<char> = letters.iter().flat_map(|text| text.chars()).chain(' '..='~').collect();
    let (letters, mut subsets) = (String::from_iter(letters), FontSubsets::default());
    [Font::Sans, Font::Mono].into_iter().for_each(|font| subsets.add(&letters, font));
    let colors = format!(
        ":root{{{}}}\n@media(prefers-color-scheme:dark){{:root:not([data-look=light]){{{dark}}}}}\n:\
         root[data-look=dark]{{{dark}}}",
        svg::variables(&LIGHT),
        dark = svg::variables(&DARK)
    );
    let look = [
        ("{policy}", svg::policy(has_script)),
        ("{version}", VERSION.to_owned()),
        ("{fonts}", subsets.style()),
        ("{colors}", colors),
        ("{style}", STYLE.to_owned()),
    ];
    let parts: Vec<(&str, String)> = look.into_iter().chain(parts).collect();
    fill_template(template, &parts)
}

/// Fills in a template.
fn fill_template(template: &str, parts: &[(&str, String)]) -> String {
    let mut page =
        String::with_capacity(template.len() + parts.iter().map(|(_, part)| part.len()).sum::<usize>());
    let mut rest = template;
    // From the front, so that inserted parts are not searched for placeholders.
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
