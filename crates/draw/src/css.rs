//! Inks as CSS variables, so that a page follows the light or dark setting of its reader.

use std::fmt::Write as _;

use crate::drawing::Ink;
use crate::palette::{DARK, LIGHT, Palette};
use crate::svg::hex;

/// The Content-Security-Policy of a web page: inline styles and fonts, with `has_script` inline scripts, and nothing loaded.
pub fn policy(has_script: bool) -> String {
    let script = if has_script { "; script-src 'unsafe-inline'" } else { "" };
    format!("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'{script}; font-src data:\">")
}

/// Inks whose colours depend on the palette, and their CSS variables.
const INKS: [(Ink, &str); 19] = [
    (Ink::Panel, "panel"),
    (Ink::Canvas, "canvas"),
    (Ink::Field, "field"),
    (Ink::Text, "text"),
    (Ink::TextWeak, "text-weak"),
    (Ink::Line, "line"),
    (Ink::Grid, "grid"),
    (Ink::Accent, "accent"),
    (Ink::OnAccent, "on-accent"),
    (Ink::OnCandidate, "on-candidate"),
    (Ink::Error, "error"),
    (Ink::Point, "point"),
    (Ink::Query, "query"),
    (Ink::Neighbor, "neighbor"),
    (Ink::Candidate, "candidate"),
    (Ink::Rejected, "rejected"),
    (Ink::Intermediate, "intermediate"),
    (Ink::Buffer, "buffer"),
    (Ink::Theory, "theory"),
];

/// The declarations of all variables in the colours of a palette, and the colour scheme.
pub fn variables(palette: &Palette) -> String {
    let mut text = format!("color-scheme:{}", if palette.dark { "dark" } else { "light" });
    for (ink, name) in INKS {
        let _ = write!(text, ";--{name}:{}", hex(ink.color(palette)));
    }
    text
}

/// The CSS colour of an ink: a variable; of a magnitude or a category, the colour itself, or one for each scheme where they differ.
pub fn variable(ink: Ink) -> String {
    if let Some((_, name)) = INKS.iter().find(|(named, _)| *named == ink) {
        return format!("var(--{name})");
    }
    match [&LIGHT, &DARK].map(|palette| hex(ink.color(palette))) {
        [light, dark] if light == dark => light,
        [light, dark] => format!("light-dark({light},{dark})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ink_is_a_variable_that_every_palette_declares_or_a_colour() {
        for palette in [&LIGHT, &DARK] {
            let text = variables(palette);
            for (ink, _) in INKS {
                let name = variable(ink).replace("var(", "").replace(')', "");
                assert!(text.contains(&format!("{name}:{}", hex(ink.color(palette)))), "{text}");
            }
        }
        assert_eq!(variable(Ink::OnScale(0.0)), "#ffffff");
        assert_eq!(variable(Ink::Category(0)), "light-dark(#0072b2,#56b4e9)");
    }
}
