//! What runs are called: each otherwise than the others beside it, so that a name says which is meant.

use std::collections::{HashMap, HashSet};

/// The name itself or, where it is taken, the first of `name (2)`, `name (3)`, … that is free.
pub fn free_name(name: &str, taken: impl Fn(&str) -> bool) -> String {
    free_from(name, &mut 2, taken)
}

/// Names, each once: of equal ones the first stays as it is.
pub(super) fn unique<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let (mut unique, mut seen, mut next) = (Vec::new(), HashSet::new(), HashMap::new());
    for name in names {
        // Goes on where the name's last number was: a file may hold as many equal names as fit.
        let name = free_from(name, next.entry(name).or_insert(2), |name| seen.contains(name));
        seen.insert(name.clone());
        unique.push(name);
    }
    unique
}

fn free_from(name: &str, next: &mut u64, taken: impl Fn(&str) -> bool) -> String {
    if !taken(name) {
        return name.to_owned();
    }
    loop {
        let numbered = format!("{name} ({next})");
        *next += 1;
        if !taken(&numbered) {
            return numbered;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_numbered() {
        assert_eq!(unique(["a", "b", "a", "a (2)", "a", "a (2)"]), ["a", "b", "a (2)", "a (2) (2)", "a (3)", "a (2) (3)"]);
        let once = unique(["a", "a", "a (2)"]);
        assert_eq!(unique(once.iter().map(String::as_str)), once, "what was made unique stays as it is");
        assert_eq!(unique(vec!["a"; 100_000]).last().unwrap(), "a (100000)");
        assert_eq!(free_name("a", |name| ["a", "a (2)"].contains(&name)), "a (3)");
    }
}
