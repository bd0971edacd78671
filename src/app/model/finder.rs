//! What is typed into the finder.

/// What is typed, and which entry the arrows are at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finder {
    pub text: String,
    pub at: usize,
}
