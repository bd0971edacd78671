//! Text to compare regardless of case and accents.

/// "Zürich" and "ZURICH" become "zurich".
pub fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    deunicode::deunicode_with_tofu(text, "").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_accents_do_not_matter() {
        assert_eq!(
            ["Zürich", "Łódź", "TROMSØ", "São Paulo"].map(folded),
            ["zurich", "lodz", "tromso", "sao paulo"]
        );
        assert_eq!(folded("Größe 3 %"), "grosse 3 %");
    }
}
