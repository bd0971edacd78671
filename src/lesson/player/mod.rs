//! A lesson as a page that plays in a browser: one HTML file with its data, script, style and fonts, which needs no network and no program.
//!
//! The page draws what the window draws: the shapes of each moment are those of [`draw`](super::picture::draw), written once each.
//! `docs/lesson-page.md` describes the file.
//!
//! | module | holds |
//! |---|---|
//! | [`items`] | scenes as flat lists of items |
//! | [`pack`] | tables of what repeats, and lists as changes of earlier ones |
//! | [`data`] | the moments of a lesson and its questions, with these tables |
//! | [`check`] | a hash of what a moment draws, for tests of pages |
//! | `player.js`, `player.css`, `page.html` | the page around the data |

pub mod check;
pub mod data;
pub mod items;
pub mod pack;

use std::io::{self, Write};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::cursor::Level;
use super::moments::Moments;
use super::picture::embedded::Said;
use super::picture::scene::Font;
use super::picture::svg::escaped;
use super::picture::{Film, css};
use crate::palette::{DARK, LIGHT};
use crate::progress::Progress;
use data::{Data, pack};
use items::Kind;

/// Bytes of a page at most. Where a lesson takes more, its finest levels are left out.
pub const MOST_BYTES: usize = 3_000_000;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("player.css");
const SCRIPT: &str = include_str!("player.js");

/// What of a lesson is in a page that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The finest level that the page can stop at.
    pub finest: Level,
    /// Moments that it can show.
    pub moments: usize,
}

/// Writes the page of a film: of one take from the first to the last of `moments`, of several all that the lesson is about; it begins at the
/// level of `moments`, and follows the reader's light or dark setting.
///
/// # Errors
/// I/O errors of the writer, and [`io::ErrorKind::Interrupted`] if `progress` is cancelled.
pub fn write(film: &Film, moments: &Moments, progress: &dyn Progress, out: &mut (impl Write + ?Sized)) -> io::Result<Written> {
    let range = moments.all.first().copied().unwrap_or(0)..=moments.all.last().copied().unwrap_or(0);
    for finest in Level::ALL.into_iter().rev() {
        let is_last = finest == Level::ALL[0];
        let Some(data) = pack(film, &range, moments.level, finest, progress)? else {
            if is_last {
                return Err(io::Error::other("the search has more steps than a page can hold; choose fewer with --from and --to"));
            }
            continue;
        };
        let page = page(&data)?;
        if page.len() <= MOST_BYTES || is_last {
            out.write_all(page.as_bytes())?;
            return Ok(Written { finest, moments: data.takes.iter().map(|take| take.at.len()).sum() });
        }
    }
    unreachable!("the last level returns")
}

/// The page with its data.
fn page(data: &Data) -> io::Result<String> {
    let mut said = Said::default();
    // The page's own words, in any font that it uses.
    let mut note = |text: &str| [Font::Sans, Font::Mono].into_iter().for_each(|font| said.note(text, font));
    note(&(' '..='~').collect::<String>());
    data.items.iter().filter(|(_, item)| item.kind == Kind::Text).for_each(|(_, item)| note(&item.text));
    data.says.values.iter().for_each(|text| note(text));
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    serde_json::to_writer(&mut packed, data)?;
    let colors = format!(
        ":root{{{}}}\n@media(prefers-color-scheme:dark){{:root:not([data-look=light]){{{dark}}}}}\n:root[data-look=dark]{{{dark}}}",
        css::variables(&LIGHT),
        dark = css::variables(&DARK)
    );
    let title = escaped(&data.heading());
    let parts = [
        ("{title}", title.as_str()),
        ("{fonts}", &said.style()),
        ("{colors}", &colors),
        ("{style}", STYLE),
        ("{data}", &BASE64_STANDARD.encode(packed.finish()?)),
        ("{script}", SCRIPT),
    ];
    Ok(filled(TEMPLATE, &parts))
}

/// A template with its parts in their places, which come once and in this order or again later.
fn filled(template: &str, parts: &[(&str, &str)]) -> String {
    let mut page = String::with_capacity(template.len() + parts.iter().map(|(_, part)| part.len()).sum::<usize>());
    let mut rest = template;
    // From the front: what is put in is not looked through.
    while let Some((at, name, part)) = parts.iter().filter_map(|(name, part)| Some((rest.find(name)?, name, part))).min() {
        page.push_str(&rest[..at]);
        page.push_str(part);
        rest = &rest[at + name.len()..];
    }
    page + rest
}

#[cfg(test)]
mod tests;
