//! Numbers as people read them: what exports print, and what only a window needs.

use crate::cloud::Order;
pub use crate::export::text::{count as counted, difference, rate as distances_per_second, thousands as count, time as millis};

/// Three significant digits, in the plain notation where that is short: `0.00123`, `45.6`, `12,300`, `1.23e-7`.
pub fn significant(value: f64) -> String {
    digits(value, 3)
}

/// A number of significant digits, trailing zeros kept, so that columns line up.
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
    // Rounding first: 999.6 has four digits before the point once it has three in all.
    let rounded: f64 = format!("{value:.*e}", digits - 1).parse().unwrap_or(value);
    let exponent = rounded.abs().log10().floor() as i32;
    if !(-4..9).contains(&exponent) {
        return format!("{value:.*e}", digits - 1);
    }
    fixed(rounded, (digits as i32 - 1 - exponent).max(0) as usize)
}

/// With so many decimals, and thousands grouped whether there are any or not: `12,345`, `-12,345.6`.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    // What is beyond whole numbers of the machine stays as it is.
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), count);
    let sign = if value < 0.0 && text.contains(|c| ('1'..='9').contains(&c)) { "-" } else { "" };
    format!("{sign}{whole}{rest}")
}

/// A coordinate in the file's own value: all the digits that it has while they are few, else six decimals or six
/// significant digits, whichever are more; thousands not grouped so that it can be copied.
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

/// A moment in UTC, from seconds since 1970: `2026-11-21 05:44`.
pub fn moment(unix: u64) -> String {
    // Days in a calendar that begins on 1 March of year 0, whose leap days come last.
    let days = unix / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let (day, month) = (day_of_year - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02}", unix % 86_400 / 3_600, unix % 3_600 / 60)
}

/// What a bound needs, where it holds only for points in random order.
pub fn if_shuffled(order: Order) -> &'static str {
    match order {
        Order::Shuffled => "",
        Order::File => " if shuffled",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_in_plain_notation() {
        assert_eq!(significant(0.0), "0");
        assert_eq!(significant(0.001_234), "0.00123");
        assert_eq!(significant(45.64), "45.6");
        assert_eq!(significant(999.6), "1,000");
        assert_eq!(significant(-12_345.0), "-12,300");
        assert_eq!(significant(1.234e-7), "1.23e-7");
        assert_eq!(significant(f64::INFINITY), "∞");
    }

    #[test]
    fn thousands_are_grouped_beside_decimals_too() {
        assert_eq!([fixed(12_345.0, 0), fixed(12_345.6, 1), fixed(-1_234_567.25, 2)], ["12,345", "12,345.6", "-1,234,567.25"]);
        assert_eq!([fixed(999.96, 1), fixed(-0.04, 1), fixed(-0.4, 0), fixed(0.25, 4)], ["1,000.0", "0.0", "0", "0.2500"]);
        assert_eq!([digits(12_345.6, 6), digits(-12_345.6, 7), digits(12_345.6, 4)], ["12,345.6", "-12,345.60", "12,350"]);
        assert_eq!(fixed(1e20, 0), "100000000000000000000");
    }

    #[test]
    fn moments_have_their_date() {
        assert_eq!(moment(0), "1970-01-01 00:00");
        assert_eq!(moment(951_782_400 + 86_399), "2000-02-29 23:59");
        assert_eq!(moment(1_795_239_853), "2026-11-21 05:44");
    }

    #[test]
    fn coordinates_keep_their_digits() {
        assert_eq!(coordinate(-64.740737), "-64.740737");
        assert_eq!(coordinate(515_368.602_25), "515368.60225");
        assert_eq!(coordinate(1.0 / 3.0), "0.333333");
        assert_eq!(coordinate(-1.0 / 300.0), "-0.00333333");
        assert_eq!(coordinate(1.0 / 3e8), "3.33333e-9");
        assert_eq!(coordinate(1e20 / 3.0), "3.33333e19");
    }
}
