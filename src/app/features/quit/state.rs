//! Closing the window while runs are unsaved.

/// What the window waits for before closing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuitStage {
    /// The user's decision about unsaved runs.
    Asking,
    /// The session being saved, including the choice of its file.
    Saving,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuitAction {
    /// Save the session, then quit.
    Save,
    /// Quit and lose the runs.
    Without,
    Stay,
}
