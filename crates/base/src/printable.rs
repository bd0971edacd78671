//! Makes external text safe to show on a terminal, in JSON and in a spreadsheet.

use std::borrow::Cow;

/// Escapes control characters (which move the cursor or set colours), line and paragraph separators, and
/// bidirectional marks as `\u{1b}`.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, is_unprintable, |c| c.escape_unicode().to_string())
}

/// Like [`line()`], for text with several lines: line breaks and tabs are kept.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_unprintable(c) && !matches!(c, '\n' | '\t'), |c| c.escape_unicode().to_string())
}

/// Replaces the characters that [`line()`] escapes with spaces. For names, which are displayed but not
/// parsed.
pub fn name(text: &str) -> String {
    text.chars().map(|c| if is_unprintable(c) { ' ' } else { c }).collect()
}

/// Equivalent JSON without the characters that [`line()`] escapes; line breaks between values are kept.
pub fn json(json: &str) -> Cow<'_, str> {
    // Outside strings, JSON has only line breaks of these; inside strings, they are already escaped.
    escaped(
        json,
        |c| is_unprintable(c) && !matches!(c, '\n' | '\t' | '\r'),
        |c| format!("\\u{:04x}", u32::from(c)),
    )
}

/// Control characters (C0, C1 and delete), line and paragraph separators, and bidirectional marks.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

fn escaped(text: &str, wrong: impl Fn(char) -> bool, escape: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.contains(&wrong) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if wrong(c) { escaped += &escape(c) } else { escaped.push(c) }
    }
    Cow::Owned(escaped)
}

/// A CSV or TSV cell that a spreadsheet does not treat as a formula. Text that begins with `=`, `+`, `-` or
/// `@` (or with a tab or line break, which spreadsheets skip) is prefixed with `'`, unless it is a number.
pub fn cell(text: &str) -> Cow<'_, str> {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) && text.parse::<f64>().is_err() {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert!(matches!(line("Zürich, 10 µs → 5 × 3 – “ok”"), Cow::Borrowed(_)));
        assert_eq!(line("a\u{1b}[2Jb\u{9b}31mc\u{7f}\r\n\t"), r"a\u{1b}[2Jb\u{9b}31mc\u{7f}\u{d}\u{a}\u{9}");
        for mark in
            ["\u{200e}", "\u{200f}", "\u{202a}", "\u{202e}", "\u{2066}", "\u{2069}", "\u{2028}", "\u{85}"]
        {
            assert_eq!(line(mark), mark.escape_unicode().to_string());
        }
        assert_eq!(name("a\u{1b}b\u{202e}c\nd é"), "a b c d é");
        assert_eq!(lines("a\tb\n\u{1b}c"), "a\tb\n\\u{1b}c");
        let json = serde_json::to_string(&["\u{1b}\u{9b}\u{202e}\u{7f}\\é"]).unwrap();
        let shown = self::json(&json);
        assert_eq!(shown, r#"["\u001b\u009b\u202e\u007f\\é"]"#);
        assert_eq!(serde_json::from_str::<[String; 1]>(&shown).unwrap(), ["\u{1b}\u{9b}\u{202e}\u{7f}\\é"]);
    }

    #[test]
    fn formula_cells_are_quoted_and_numbers_are_unchanged() {
        let cases = [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-x", "'-x"),
            ("+cmd", "'+cmd"),
            ("\t=1", "'\t=1"),
            ("-1.5", "-1.5"),
            ("+2e3", "+2e3"),
        ];
        for (text, expected) in cases {
            assert_eq!(cell(text), expected);
        }
        for text in ["", "x", "-inf", "a=b", "'=1", "−1"] {
            assert_eq!(cell(text), text);
        }
    }
}
