//! Numbers as people read them: thousands grouped, three significant digits unless exact, units beside them.

/// 518862 → `518,862`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

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
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    if decimals > 0 {
        return format!("{rounded:.decimals$}");
    }
    let whole = count(rounded.abs() as u64);
    if rounded < 0.0 { format!("-{whole}") } else { whole }
}

/// A coordinate in the file's own value: all the digits that it has, thousands not grouped so that it can be copied.
pub fn coordinate(value: f64) -> String {
    let plain = format!("{value}");
    if plain.len() <= 14 { plain } else { format!("{value:.6}") }
}

/// A duration in µs, ms or s.
pub fn millis(ms: f64) -> String {
    match ms.abs() {
        size if size == 0.0 => "0 ms".to_owned(),
        size if size < 1.0 => format!("{} µs", significant(ms * 1e3)),
        size if size < 1e3 => format!("{} ms", significant(ms)),
        _ => format!("{} s", significant(ms / 1e3)),
    }
}

/// A rate with its prefix: `2.92 Tdist/s`.
pub fn distances_per_second(rate: f64) -> String {
    let (scaled, prefix) = match rate {
        _ if rate >= 1e12 => (rate / 1e12, "T"),
        _ if rate >= 1e9 => (rate / 1e9, "G"),
        _ if rate >= 1e6 => (rate / 1e6, "M"),
        _ => (rate / 1e3, "k"),
    };
    format!("{} {prefix}dist/s", significant(scaled))
}

/// `1 point`, `2 points`.
pub fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(518_862), "518,862");
        assert_eq!(count(10_000_000), "10,000,000");
    }

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
    fn units_follow_the_size() {
        assert_eq!(millis(0.012_34), "12.3 µs");
        assert_eq!(millis(1.5), "1.50 ms");
        assert_eq!(millis(61_234.0), "61.2 s");
        assert_eq!(distances_per_second(2.92e12), "2.92 Tdist/s");
        assert_eq!(counted(1, "query", "queries"), "1 query");
    }
}
