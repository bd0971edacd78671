//! Formats numbers for display: units, grouped thousands, three significant digits unless exact.

use std::borrow::Cow;
use std::fmt;

use crate::printable;

/// A whole number with grouped thousands: `1,048,576`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Three significant digits: `0.00123`, `12.3`, `1,230,000`.
pub fn significant(number: f64) -> String {
    significant_to(number, 3)
}

/// The given number of significant digits, at least one: with four, `0.001234`, `12.34`, `1,234,000`.
pub fn significant_to(number: f64, digits: usize) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let after = digits.max(1) - 1;
    let rounded = rounded(number, digits);
    let magnitude = rounded.abs().log10().floor() as i32;
    if !(-5..15).contains(&magnitude) {
        return format!("{number:.after$e}");
    }
    if magnitude <= after as i32 {
        return format!("{number:.*}", (after as i32 - magnitude) as usize);
    }
    let sign = if number < 0.0 { "-" } else { "" };
    format!("{sign}{}", thousands(rounded.abs().round() as u64))
}

/// Rounds to a number of significant digits.
fn rounded(number: f64, digits: usize) -> f64 {
    format!("{number:.*e}", digits.max(1) - 1).parse().unwrap_or(number)
}

/// The shortest text that parses to the same float: `inf` for infinity, an exponent for very large and small
/// values.
pub struct ExactFloat<T>(pub T);

macro_rules! exact {
    ($float:ty) => {
        impl fmt::Display for ExactFloat<$float> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let size = self.0.abs();
                if size == 0.0 || size.is_infinite() || (1e-5..1e16).contains(&size) {
                    write!(f, "{}", self.0)
                } else {
                    write!(f, "{:e}", self.0)
                }
            }
        }
    };
}
exact!(f32);
exact!(f64);

/// A time in milliseconds, displayed in µs, ms or s.
pub fn time(milliseconds: f64) -> String {
    let (value, unit) = match rounded(milliseconds, 3).abs() {
        ms if ms < 1.0 => (milliseconds * 1e3, "µs"),
        ms if ms < 1e3 => (milliseconds, "ms"),
        _ => (milliseconds / 1e3, "s"),
    };
    format!("{} {unit}", significant(value))
}

/// A range of times in milliseconds, with a shared unit written once: `1.20 to 3.41 ms`, `340 µs to 1.20 ms`.
pub fn times(least: f64, most: f64) -> String {
    let (least, most) = (time(least), time(most));
    match (least.split_once(' '), most.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number} to {most}"),
        _ => format!("{least} to {most}"),
    }
}

/// A difference of times in milliseconds, with its sign: `+1.20 ms`, `−340 µs`.
pub fn difference(milliseconds: f64) -> String {
    let sign = if milliseconds < 0.0 { "−" } else { "+" };
    format!("{sign}{}", time(milliseconds.abs()))
}

/// A rate in distances per second: `2.92 Tdist/s`.
pub fn rate(distances_per_second: f64) -> String {
    let (unit, scale) = unit_prefix(distances_per_second);
    format!("{} {unit}dist/s", significant(distances_per_second / scale))
}

/// A rate and its maximum: `4.10 of 6.00 Tdist/s`.
pub fn rate_with_max(distances_per_second: f64, most: f64) -> String {
    let (unit, scale) = unit_prefix(most);
    format!("{} of {} {unit}dist/s", significant(distances_per_second / scale), significant(most / scale))
}

/// The unit prefix for a large number, and its factor.
pub fn unit_prefix(number: f64) -> (&'static str, f64) {
    let units = [("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)];
    units.into_iter().find(|(_, scale)| rounded(number, 3) >= *scale).unwrap_or(("", 1.0))
}

/// A size in decimal units, as in disk and file managers: `8.00 GB`.
pub fn bytes(bytes: u64) -> String {
    let (unit, scale) = unit_prefix(bytes as f64);
    format!("{} {unit}B", significant(bytes as f64 / scale))
}

/// A number and its noun: `1 query`, `1,000 queries`.
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { many })
}

/// `1st`, `2nd`, `3rd`, `4th`, …, `11th`, …, `1,024th`.
pub fn ordinal(number: u64) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{}{ending}", thousands(number))
}

/// Formats rows in aligned columns, two spaces apart; the columns in `right` are right-aligned. Cells are
/// made [`printable`].
pub fn table(rows: &[Vec<String>], right: &[usize]) -> String {
    let rows: Vec<Vec<Cow<'_, str>>> =
        rows.iter().map(|row| row.iter().map(|cell| printable::line(cell)).collect()).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[column] - cell.chars().count());
            let (before, after) =
                if right.contains(&column) { (padding.as_str(), "") } else { ("", padding.as_str()) };
            line += &format!("{}{before}{cell}{after}", if column == 0 { "" } else { "  " });
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// Significant digits with trailing zeros, so that columns align, in plain notation where that is short. With
/// three: `0.00123`, `45.6`, `12,300`, `1.23e-7`.
pub fn digits(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞".to_owned() } else { "-∞".to_owned() };
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    // Round first: 999.6 becomes 1000, with one more digit before the point.
    let rounded: f64 = format!("{value:.*e}", digits - 1).parse().unwrap_or(value);
    let exponent = rounded.abs().log10().floor() as i32;
    if !(-4..9).contains(&exponent) {
        return format!("{value:.*e}", digits - 1);
    }
    fixed(rounded, (digits as i32 - 1 - exponent).max(0) as usize)
}

/// A fixed number of decimals, with grouped thousands: `12,345`, `-12,345.6`.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    // Numbers beyond u64 are not grouped.
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), thousands);
    let sign = if value < 0.0 && text.contains(|c| ('1'..='9').contains(&c)) { "-" } else { "" };
    format!("{sign}{whole}{rest}")
}

/// A coordinate in the file's units: all its digits if they are few, otherwise six decimals or six
/// significant digits, whichever is more. Thousands are not grouped, so that it can be copied.
pub fn coordinate(value: f64) -> String {
    let plain = format!("{value}");
    if plain.len() <= 14 {
        return plain;
    }
    match value.abs().log10().floor() as i32 {
        0..=11 => format!("{value:.6}"),
        exponent @ -4..=-1 => format!("{value:.*}", (5 - exponent) as usize),
        _ => format!("{value:.5e}"),
    }
}

/// A time in UTC, from seconds since 1970: `2026-11-21 05:44`.
pub fn moment(unix: u64) -> String {
    // Count years from 1 March, so that a leap day is the last day of its year.
    let days = unix / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let (day, month) =
        (day_of_year - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02}", unix % 86_400 / 3_600, unix % 3_600 / 60)
}

/// Capitalises the first letter.
pub fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A part of a whole (1, or 100 for percentages) with a number of decimals. Rounded up to the whole only if
/// it equals the whole, so that an imperfect result never reads as perfect.
pub fn rounded_part(part: f64, whole: f64, decimals: u32) -> String {
    let scale = 10f64.powi(decimals as i32);
    // Rounding may make a mean of shares a few bits too small.
    let is_whole = part * (1.0 + 1e-12) >= whole;
    let most = if is_whole { whole } else { whole - 1.0 / scale };
    format!("{:.*}", decimals as usize, ((part * scale).round() / scale).min(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_have_english_suffixes() {
        let said: Vec<String> =
            [1, 2, 3, 4, 11, 12, 13, 21, 32, 103, 111, 1024].into_iter().map(ordinal).collect();
        assert_eq!(said.join(" "), "1st 2nd 3rd 4th 11th 12th 13th 21st 32nd 103rd 111th 1,024th");
    }

    #[test]
    fn thousands_are_grouped() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_048_576, "1,048,576"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ];
        for (number, expected) in cases {
            assert_eq!(thousands(number), expected);
        }
    }

    #[test]
    fn numbers_have_three_significant_digits() {
        let cases = [
            (0.0, "0"),
            (1.0, "1.00"),
            (-12.345, "-12.3"),
            (0.001_234, "0.00123"),
            (999.6, "1,000"),
            (123_456.0, "123,000"),
            (3e-9, "3.00e-9"),
        ];
        for (number, expected) in cases {
            assert_eq!(significant(number), expected);
        }
        assert_eq!(significant(f64::INFINITY), "inf");
    }

    #[test]
    fn times_and_rates_choose_a_unit_by_magnitude() {
        let cases = [
            (0.5, "500 µs"),
            (0.9999, "1.00 ms"),
            (26.54, "26.5 ms"),
            (999.7, "1.00 s"),
            (61_234.0, "61.2 s"),
            (0.0, "0 µs"),
        ];
        for (ms, expected) in cases {
            assert_eq!(time(ms), expected);
        }
        assert_eq!(times(0.34, 0.5), "340 to 500 µs");
        assert_eq!(times(0.34, 1.2), "340 µs to 1.20 ms");
        for (per_second, expected) in
            [(2.917e12, "2.92 Tdist/s"), (9.999e8, "1.00 Gdist/s"), (12.0, "12.0 dist/s"), (0.0, "0 dist/s")]
        {
            assert_eq!(rate(per_second), expected);
        }
    }

    #[test]
    fn differences_always_show_a_sign() {
        assert_eq!([difference(1.2), difference(-0.34), difference(0.0)], ["+1.20 ms", "−340 µs", "+0 µs"]);
    }

    #[test]
    fn columns_are_aligned_by_character_count() {
        let rows = [["µs", "1"], ["long", "1,000"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows, &[1]), "µs        1\nlong  1,000\n");
        assert_eq!(table(&rows, &[]), "µs    1\nlong  1,000\n");
    }

    #[test]
    fn short_numbers_use_plain_notation() {
        assert_eq!(digits(0.0, 3), "0");
        assert_eq!(digits(0.001_234, 3), "0.00123");
        assert_eq!(digits(45.64, 3), "45.6");
        assert_eq!(digits(999.6, 3), "1,000");
        assert_eq!(digits(-12_345.0, 3), "-12,300");
        assert_eq!(digits(1.234e-7, 3), "1.23e-7");
        assert_eq!(digits(f64::INFINITY, 3), "∞");
    }

    #[test]
    fn thousands_are_grouped_in_decimal_numbers() {
        assert_eq!(
            [fixed(12_345.0, 0), fixed(12_345.6, 1), fixed(-1_234_567.25, 2)],
            ["12,345", "12,345.6", "-1,234,567.25"]
        );
        assert_eq!(
            [fixed(999.96, 1), fixed(-0.04, 1), fixed(-0.4, 0), fixed(0.25, 4)],
            ["1,000.0", "0.0", "0", "0.2500"]
        );
        assert_eq!(
            [digits(12_345.6, 6), digits(-12_345.6, 7), digits(12_345.6, 4)],
            ["12,345.6", "-12,345.60", "12,350"]
        );
        assert_eq!(fixed(1e20, 0), "100000000000000000000");
    }

    #[test]
    fn control_characters_in_table_cells_are_escaped() {
        assert_eq!(table(&[vec!["a\nb".to_owned(), "\u{202e}c".to_owned()]], &[]), "a\\u{a}b  \\u{202e}c\n");
    }

    #[test]
    fn unix_times_format_as_utc_dates() {
        assert_eq!(moment(0), "1970-01-01 00:00");
        assert_eq!(moment(951_782_400 + 86_399), "2000-02-29 23:59");
        assert_eq!(moment(1_795_239_853), "2026-11-21 05:44");
    }

    #[test]
    fn short_coordinates_are_not_rounded() {
        assert_eq!(coordinate(-64.740737), "-64.740737");
        assert_eq!(coordinate(515_368.602_25), "515368.60225");
        assert_eq!(coordinate(1.0 / 3.0), "0.333333");
        assert_eq!(coordinate(-1.0 / 300.0), "-0.00333333");
        assert_eq!(coordinate(1.0 / 3e8), "3.33333e-9");
        assert_eq!(coordinate(1e20 / 3.0), "3.33333e19");
    }

    #[test]
    fn incomplete_shares_never_round_up_to_100_percent() {
        assert_eq!(
            [99.996, 100.0, 98.887].map(|percent| rounded_part(percent, 100.0, 2)),
            ["99.99", "100.00", "98.89"]
        );
        let cases = [
            (1.0, "1.0000"),
            (1.0 - 1e-15, "1.0000"),
            (0.999_99, "0.9999"),
            (0.819_999_999_999_999_8, "0.8200"),
            (0.0, "0.0000"),
            (2.0 / 3.0, "0.6667"),
        ];
        for (share, expected) in cases {
            assert_eq!(rounded_part(share, 1.0, 4), expected);
        }
    }
}
