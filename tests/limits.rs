//! Checks that docs/limits.md matches the readers.

use warpscope::cloud::formats::limits::{Limit, TABLE};
use warpscope::text::thousands;

fn row(Limit { format, what, most, unit, why }: &Limit) -> String {
    format!("| {format} | {what} | {}{unit} | {why} |", thousands(*most))
}

#[test]
fn the_table_of_limits_matches_the_readers() {
    let head =
        ["| format | of what | most | beyond that, and why |".to_owned(), "|---|---|---|---|".to_owned()];
    let expected: Vec<String> = head.into_iter().chain(TABLE.iter().map(row)).collect();
    let page = include_str!("../docs/limits.md");
    assert!(
        page.contains(&expected.join("\n")),
        "docs/limits.md should hold this table:\n\n{}\n",
        expected.join("\n")
    );
}
