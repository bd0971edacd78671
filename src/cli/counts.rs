//! Whole numbers on the command line, which are also written as 1e6 or 1_000_000.

use std::ops::RangeInclusive;

/// A whole number in any of these forms.
pub fn whole_number(text: &str) -> Option<u64> {
    let text = text.replace('_', "");
    if !text.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().or_else(|| text.parse::<f64>().ok().filter(|value| value.fract() == 0.0 && *value < 1e15).map(|value| value as u64))
}

/// Takes a whole number, for clap.
pub fn whole<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let number = whole_number(text).ok_or_else(|| "a whole number is needed, such as 1000 or 1e6".to_owned())?;
    T::try_from(number).map_err(|_| "it is too large".to_owned())
}

/// Takes a whole number in a range.
pub fn whole_in<T: TryFrom<u64>>(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number: u64 = whole(text)?;
        let (least, most) = (range.start(), range.end());
        match T::try_from(number) {
            Ok(number_of_type) if range.contains(&number) => Ok(number_of_type),
            _ if number < *least => Err(format!("it is at least {least}")),
            _ => Err(format!("it is at most {most}")),
        }
    }
}

/// Takes a number in a range.
pub fn number_in(range: RangeInclusive<f32>) -> impl Fn(&str) -> Result<f32, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("must be between {} and {}", range.start(), range.end()))
    }
}

/// Repeats at most, and warm-ups: more would take days.
pub const MOST_REPEATS: u64 = 1_000_000;

/// One or more, as 32 bits hold.
pub fn at_least_one<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    whole_in(1..=u32::MAX.into())(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_several_forms() {
        for (text, number) in [("0", 0), ("1000", 1000), ("1e2", 100), ("1.5e3", 1500), ("1_000_000", 1_000_000), ("18446744073709551615", u64::MAX)]
        {
            assert_eq!(whole(text), Ok(number), "{text}");
        }
        for text in ["", "-3", "1.5", "1e-2", "many", "1e300", "inf"] {
            assert!(whole::<u64>(text).is_err(), "{text}");
        }
        assert_eq!(whole::<u32>("5e9"), Err("it is too large".to_owned()));
        assert_eq!(whole::<usize>("few").unwrap_err(), "a whole number is needed, such as 1000 or 1e6");
    }

    #[test]
    fn a_number_outside_its_range_is_refused() {
        let size = number_in(0.1..=100.0);
        assert_eq!((size("0.1"), size("1e2")), (Ok(0.1), Ok(100.0)));
        for text in ["0", "-1", "1e30", "nan", "inf", "", "2px"] {
            assert_eq!(size(text), Err("must be between 0.1 and 100".to_owned()), "{text}");
        }
    }

    #[test]
    fn a_range_names_the_end_that_is_passed() {
        let few = whole_in::<u32>(1..=1024);
        assert_eq!((few("1e3"), few("0"), few("1025")), (Ok(1000), Err("it is at least 1".to_owned()), Err("it is at most 1024".to_owned())));
        assert_eq!(at_least_one::<u32>("5e9"), Err("it is at most 4294967295".to_owned()));
    }
}
