//! Words that go with numbers, and lists of names.

use crate::cloud::Order;

/// What a bound needs, where it holds only for points in random order.
pub fn if_shuffled(order: Order) -> &'static str {
    match order {
        Order::Shuffled => "",
        Order::File => " if shuffled",
    }
}

/// Names of which any will do: `a, b or c`.
pub fn any_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// How far something is, after what it is.
pub fn percent(fraction: Option<f32>) -> String {
    fraction.map(|fraction| format!(", {:.0} %", fraction * 100.0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_as_one_says_them() {
        assert_eq!([&[][..], &["a"], &["a", "b"], &["a", "b", "c"]].map(any_of), ["", "a", "a or b", "a, b or c"]);
    }
}
