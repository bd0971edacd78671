//! What is typed into the finder.

/// What is typed, and which entry the arrows are at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finder {
    /// What is looked for.
    pub text: String,
    /// The place in what was found.
    pub at: usize,
}
