//! How a choice and what was selected before go together.

/// What becomes of what was selected before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum How {
    /// The earlier selection is dropped.
    #[default]
    Replace,
    /// The union of both is selected.
    Add,
    /// The earlier selection, without what is chosen now.
    Remove,
    /// What is chosen goes if all of it was selected, else it comes.
    Toggle,
}

impl How {
    /// What the keys that are held mean, everywhere: Shift adds, Ctrl adds or removes.
    pub fn of_click(modifiers: egui::Modifiers) -> Self {
        match (modifiers.command, modifiers.shift) {
            (true, _) => Self::Toggle,
            (false, true) => Self::Add,
            (false, false) => Self::Replace,
        }
    }
}
