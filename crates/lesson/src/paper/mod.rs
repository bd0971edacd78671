//! A lesson on paper: self-contained HTML files without scripts and with their fonts inside, laid out for A4 and Letter.
//!
//! | module | holds |
//! |---|---|
//! | [`handout`] | the lesson with pictures, sentences, the account and questions, whose answers are on a page of their own |
//! | [`sheet`] | a worksheet: questions with the pictures that they are about and room to write; and its key |
//! | `asked` | a question as it stands on paper |
//! | `tables` | what was counted, beside the theory or other searches |

pub(crate) mod asked;
pub mod handout;
pub mod sheet;
pub(crate) mod tables;

use std::io::{self, Write};

use super::lessons::Take;
use super::picture::Film;
use crate::draw::Font;
use crate::draw::fonts::FontSubsets;
use crate::draw::svg::{self, escaped};
use crate::palette::{DARK, LIGHT, Palette};

/// The colour scheme of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Follows the reader's light or dark setting; light in print.
    Readers,
    /// The palette of the film.
    Film,
}

const STYLE: &str = "body{margin:0;background:var(--canvas);color:var(--text);font:300 16px/1.5 Ubuntu,'Segoe UI',system-ui,sans-serif}\
main{max-width:60rem;margin:0 auto;padding:1.5rem}\
h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0}h2{font-size:1.2rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line)}\
figure{margin:1.2rem 0;break-inside:avoid}figure svg{box-sizing:border-box;display:block;width:100%;height:auto;border:1px solid var(--line)}\
figcaption{margin-top:.4rem;font-size:.95em}b.step{color:var(--text-weak);font-weight:normal;margin-right:.7em}\
ul.steps{list-style:none;margin:.6rem 0;padding:0}ul.steps li{margin:.2rem 0}\
table{border-collapse:collapse;margin:.6rem 0}th,td{text-align:left;padding:.15rem 1.2rem .15rem 0;vertical-align:top}\
th{color:var(--text-weak);font-weight:normal}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\
pre{background:var(--panel);padding:.8rem;white-space:pre-wrap;font:13px/1.45 Hack,Ubuntu,monospace}\
ol.asked>li{margin:1.1rem 0;break-inside:avoid}ol.asked p{margin:.2rem 0}\
ul.options{list-style:none;margin:.3rem 0;padding:0}ul.options li{margin:.2rem 0}\
.box{display:inline-block;width:.85em;height:.85em;border:1.5px solid var(--text);border-radius:2px;margin-right:.5em;vertical-align:-.08em}\
.lanes{display:flex;flex-wrap:wrap;gap:.25rem .55rem;margin:.4rem 0}.lanes span span.box{margin-right:.2em}\
.blank{display:inline-block;width:7rem;border-bottom:1px solid var(--text)}\
.ruled{height:1.8em;border-bottom:1px solid var(--line)}\
.names{display:flex;gap:2rem;margin:1rem 0}.names span{flex:1;border-bottom:1px solid var(--text)}\
.right{font-weight:bold}.weak{color:var(--text-weak)}.apart{break-before:page}\
@page{margin:15mm}@media print{body{font-size:10.5pt}main{max-width:none;padding:0}\
h2,h3{break-after:avoid}table,pre{break-inside:avoid}li,p{orphans:2;widows:2}\
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}";

/// Writes a file around its body.
fn document(film: &Film, theme: Theme, title: &str, body: &str, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let title = escaped(title);
    // A font has the letters that are used in text and pictures, and those by which the browser numbers a list.
    let mut subsets = FontSubsets::default();
    for font in [Font::Sans, Font::Mono] {
        [title.as_str(), body, "0123456789."].into_iter().for_each(|text| subsets.add(text, font));
    }
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n{}\n\
        <title>{title}</title>\n{}<style>\n{}\n{STYLE}\n</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n</body>\n</html>",
        svg::policy(false),
        subsets.style(),
        colors(film, theme)
    )
}

/// The variables of the style sheet.
fn colors(film: &Film, theme: Theme) -> String {
    let root = |palette: &Palette| format!(":root{{{}}}", svg::variables(palette));
    match theme {
        Theme::Film => root(&film.palette),
        Theme::Readers => format!("{}\n@media screen and (prefers-color-scheme:dark){{{}}}", root(&LIGHT), root(&DARK)),
    }
}

/// The name of a lesson as a heading.
fn heading(film: &Film) -> String {
    format!("Lesson {}: {}", film.lesson.number, film.lesson.title)
}

/// The order of a take's points as a heading, where there are several.
pub(crate) fn named(film: &Film, take: &Take) -> String {
    if film.takes.len() > 1 { format!("<h3>{}</h3>\n", take.arrangement.name().replace('-', " ")) } else { String::new() }
}
