//! The choice of runs to record.

/// Which runs go into a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    Shown,
    Compared,
    Pinned,
    All,
}

impl Saved {
    /// All, as the menu lists them.
    pub const ALL: [Self; 4] = [Self::Shown, Self::Compared, Self::Pinned, Self::All];

    /// As the menu says it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Shown => "The shown run…",
            Self::Compared => "The two compared runs…",
            Self::Pinned => "All pinned runs…",
            Self::All => "All runs…",
        }
    }
}
