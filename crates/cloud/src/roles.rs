//! Roles of a file's columns, and the words of headings.

use serde::{Deserialize, Serialize};

/// The inferred role of a column.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumIter, strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "lowercase")]
pub enum Role {
    Coordinate,
    /// A class label: one of a few whole numbers.
    Label,
    /// A number that identifies the row.
    Id,
    /// Seconds, or fractions of them, since an epoch.
    Time,
    /// A colour component, 0 to 255, in a file with positions.
    #[strum(serialize = "colour")]
    Color,
    /// A component of a unit vector, such as a normal, in a file with positions.
    Direction,
    /// Numbers in less than half of the rows.
    #[strum(serialize = "mostly empty")]
    MostlyEmpty,
    /// Other numbers, in a file with columns that are coordinates by name.
    #[strum(serialize = "other numbers")]
    Other,
    /// At least one field is not a number.
    Text,
    /// No value in any row.
    Empty,
}

impl Role {
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether a column with this role holds numbers.
    pub fn is_numeric(self) -> bool {
        !matches!(self, Self::Text | Self::Empty)
    }
}

/// The words of a heading: `row_id` has two.
pub fn words_of(heading: &str) -> impl Iterator<Item = &str> {
    heading.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The words of a heading in lower case, split also at capitals: `userId` and `GPSLatitude` have two each.
pub fn lower_words(heading: &str) -> Vec<String> {
    let letters: Vec<char> = heading.chars().collect();
    let small = |at: usize| letters.get(at).is_some_and(|letter| letter.is_lowercase());
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        let begins = letter.is_uppercase()
            && at > 0
            && (small(at - 1) || letters[at - 1].is_uppercase() && small(at + 1) && small(at + 2));
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether one of these words is in a space-separated list.
pub(crate) fn has_word(words: &[String], list: &str) -> bool {
    words.iter().any(|word| is_in(word, list))
}

/// Whether a word is in a space-separated list.
pub(crate) fn is_in(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// 0-based column numbers as typed, with runs as ranges: `0-63,65`.
pub fn ranges(numbers: &[usize]) -> String {
    let mut text: Vec<String> = Vec::new();
    for run in numbers.chunk_by(|a, b| a + 1 == *b) {
        match run {
            [first, .., last] => text.push(format!("{first}-{last}")),
            _ => text.extend(run.iter().map(usize::to_string)),
        }
    }
    text.join(",")
}

/// The indices of the red, green and blue columns: `red`, `diffuse_red`, or `r` alone.
pub fn colors<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<[usize; 3]> {
    const CHANNELS: [[&str; 2]; 3] = [["red", "r"], ["green", "g"], ["blue", "b"]];
    /// The words of a heading without its channel, and the columns of the three channels that share them.
    type ColorColumns = (Vec<String>, [Option<usize>; 3]);
    let mut found: Vec<ColorColumns> = Vec::new();
    for (at, name) in names.into_iter().enumerate() {
        let mut words: Vec<String> = words_of(name).map(str::to_ascii_lowercase).collect();
        let alone = words.len() == 1;
        let said = |word: &String| {
            CHANNELS.iter().position(|[long, short]| word == long || (alone && word == short))
        };
        let Some((word, channel)) =
            words.iter().enumerate().find_map(|(word, text)| Some((word, said(text)?)))
        else {
            continue;
        };
        words.remove(word);
        let place = found.iter().position(|(rest, _)| *rest == words).unwrap_or_else(|| {
            found.push((words, [None; 3]));
            found.len() - 1
        });
        found[place].1[channel].get_or_insert(at);
    }
    found.into_iter().find_map(|(_, places)| match places {
        [Some(red), Some(green), Some(blue)] => Some([red, green, blue]),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn red_green_and_blue_columns_are_recognised() {
        let of = |names: &[&str]| colors(names.iter().copied());
        assert_eq!(
            of(&["x", "y", "z", "nx", "diffuse_red", "diffuse_green", "diffuse_blue", "psz"]),
            Some([4, 5, 6])
        );
        assert_eq!(of(&["B", "G", "R", "x"]), Some([2, 1, 0]));
        assert_eq!(of(&["red", "x", "blue", "Green", "red"]), Some([0, 3, 2]), "the first of two");
        assert_eq!(
            of(&["ambient red", "diffuse_green", "diffuse_blue", "diffuse_red"]),
            Some([3, 1, 2]),
            "three with the same prefix"
        );
        assert_eq!(
            (of(&["red", "green"]), of(&["reduced", "greenhouse", "bluetooth"]), of(&["r_1", "g_1", "b_1"])),
            (None, None, None)
        );
    }

    #[test]
    fn headings_are_split_into_lower_case_words() {
        for (heading, words) in [
            ("row_id", "row id"),
            ("userId", "user id"),
            ("GPSLatitude", "gps latitude"),
            ("IDs", "ids"),
            ("Easting (m)", "easting m"),
            ("lat1", "lat1"),
            ("X", "x"),
            ("XPos", "x pos"),
            ("__", ""),
        ] {
            assert_eq!(lower_words(heading).join(" "), words, "{heading}");
        }
    }

    #[test]
    fn consecutive_columns_format_as_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 3, 5]), "0-3,5");
        assert_eq!(ranges(&[7]), "7");
        assert_eq!(ranges(&[2, 1]), "2,1");
    }
}
