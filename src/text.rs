//! Formats numbers for display: units, grouped thousands, three significant digits unless exact.

use std::fmt;

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
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let magnitude = rounded(number).abs().log10().floor() as i32;
    if !(-5..15).contains(&magnitude) {
        return format!("{number:.2e}");
    }
    if magnitude < 3 {
        return format!("{number:.*}", (2 - magnitude) as usize);
    }
    let sign = if number < 0.0 { "-" } else { "" };
    format!("{sign}{}", thousands(rounded(number).abs().round() as u64))
}

/// Rounds to three significant digits.
fn rounded(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

/// The shortest text that parses to the same float: `inf` for infinity, an exponent for very large and small values.
pub struct Exact<T>(pub T);

macro_rules! exact {
    ($float:ty) => {
        impl fmt::Display for Exact<$float> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let size = self.0.abs();
                if size == 0.0 || size.is_infinite() || (1e-5..1e16).contains(&size) { write!(f, "{}", self.0) } else { write!(f, "{:e}", self.0) }
            }
        }
    };
}
exact!(f32);
exact!(f64);

/// A time in milliseconds, displayed in µs, ms or s.
pub fn time(milliseconds: f64) -> String {
    let (value, unit) = match rounded(milliseconds).abs() {
        ms if ms < 1.0 => (milliseconds * 1e3, "µs"),
        ms if ms < 1e3 => (milliseconds, "ms"),
        _ => (milliseconds / 1e3, "s"),
    };
    format!("{} {unit}", significant(value))
}

/// A difference of times in milliseconds, with its sign: `+1.20 ms`, `−340 µs`.
pub fn difference(milliseconds: f64) -> String {
    let sign = if milliseconds < 0.0 { "−" } else { "+" };
    format!("{sign}{}", time(milliseconds.abs()))
}

/// A rate in distances per second: `2.92 Tdist/s`.
pub fn rate(distances_per_second: f64) -> String {
    let units = [("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)];
    let (unit, scale) = units.into_iter().find(|(_, scale)| rounded(distances_per_second) >= *scale).unwrap_or(("", 1.0));
    format!("{} {unit}dist/s", significant(distances_per_second / scale))
}

/// A number and its noun: `1 query`, `1,000 queries`.
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { many })
}

/// Formats rows in aligned columns, two spaces apart; the columns in `right` are right-aligned.
pub fn table(rows: &[Vec<String>], right: &[usize]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[column] - cell.chars().count());
            let (before, after) = if right.contains(&column) { (padding.as_str(), "") } else { ("", padding.as_str()) };
            line += &format!("{}{before}{cell}{after}", if column == 0 { "" } else { "  " });
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (1_048_576, "1,048,576"), (u64::MAX, "18,446,744,073,709,551,615")];
        for (number, expected) in cases {
            assert_eq!(thousands(number), expected);
        }
    }

    #[test]
    fn three_digits_count() {
        let cases =
            [(0.0, "0"), (1.0, "1.00"), (-12.345, "-12.3"), (0.001_234, "0.00123"), (999.6, "1,000"), (123_456.0, "123,000"), (3e-9, "3.00e-9")];
        for (number, expected) in cases {
            assert_eq!(significant(number), expected);
        }
        assert_eq!(significant(f64::INFINITY), "inf");
    }

    #[test]
    fn times_and_rates_choose_their_unit() {
        let cases = [(0.5, "500 µs"), (0.9999, "1.00 ms"), (26.54, "26.5 ms"), (999.7, "1.00 s"), (61_234.0, "61.2 s"), (0.0, "0 µs")];
        for (ms, expected) in cases {
            assert_eq!(time(ms), expected);
        }
        for (per_second, expected) in [(2.917e12, "2.92 Tdist/s"), (9.999e8, "1.00 Gdist/s"), (12.0, "12.0 dist/s"), (0.0, "0 dist/s")] {
            assert_eq!(rate(per_second), expected);
        }
    }

    #[test]
    fn differences_have_their_sign() {
        assert_eq!([difference(1.2), difference(-0.34), difference(0.0)], ["+1.20 ms", "−340 µs", "+0 µs"]);
    }

    #[test]
    fn columns_are_aligned_by_characters() {
        let rows = [["µs", "1"], ["long", "1,000"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows, &[1]), "µs        1\nlong  1,000\n");
        assert_eq!(table(&rows, &[]), "µs    1\nlong  1,000\n");
    }
}
