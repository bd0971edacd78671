//! How a new selection combines with the previous one.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelectMode {
    #[default]
    Replace,
    Add,
    Remove,
    /// Deselects the new rows if all of them were selected, otherwise selects them.
    Toggle,
}

impl SelectMode {
    /// The meaning of modifier keys, everywhere: Shift adds, Ctrl toggles.
    pub fn from_modifiers(modifiers: egui::Modifiers) -> Self {
        match (modifiers.command, modifiers.shift) {
            (true, _) => Self::Toggle,
            (false, true) => Self::Add,
            (false, false) => Self::Replace,
        }
    }
}
