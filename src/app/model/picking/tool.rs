//! What a drag in Plane and Space does.

/// What a drag with the first button does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    #[default]
    Move,
    /// Selects what is in a rectangle.
    Rectangle,
    /// Selects what it goes around.
    Lasso,
}

impl Tool {
    /// All, as the buttons show them.
    pub const ALL: [Self; 3] = [Self::Move, Self::Rectangle, Self::Lasso];
}
