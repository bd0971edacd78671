//! Numbers to hold what a page draws against: a hash of each panel's shapes, which a page can also make of its own elements. The check of a
//! moment is the hash of those of its panels, a number a line, its sentence, and the badge below it.

use std::fmt::Write as _;

use super::items::{Item, Kind};

/// FNV-1a with 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check(u32);

impl Default for Check {
    fn default() -> Self {
        Self(0x811c_9dc5)
    }
}

impl Check {
    /// Adds text.
    pub fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }

    /// The number.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// The check of a moment's panels, its sentence and its badge, from that of its panels alone.
pub fn and_words(panels: u32, sentence: &str, badge: Option<&str>) -> u32 {
    let mut check = Check(panels);
    check.add(sentence);
    check.add(badge.unwrap_or_default());
    check.number()
}

/// The hash of a panel: a line for each element with the area that it is clipped to, its kind, lengths, CSS and text. Clipping itself is no element.
pub fn of_panel(items: &[Item]) -> u32 {
    let (mut check, mut clip, mut line) = (Check::default(), String::new(), String::new());
    for Item { kind, style, numbers, text } in items {
        if *kind == Kind::Clip {
            clip = numbers.iter().map(i32::to_string).collect::<Vec<_>>().join(",");
            continue;
        }
        line.clear();
        // Spots are found whatever is clipped.
        let clip = if *kind == Kind::Spot { "" } else { &clip };
        let _ = write!(line, "{clip}|{}|", *kind as u8);
        for (at, number) in numbers.iter().enumerate() {
            let _ = write!(line, "{}{number}", if at == 0 { "" } else { "," });
        }
        let _ = writeln!(line, "|{style}|{text}");
        check.add(&line);
    }
    check.number()
}
