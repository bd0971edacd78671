//! Quitting while runs are in no file.

/// What is waited for before the window closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quitting {
    /// It is asked what becomes of them.
    Asks,
    /// The session is saved, or its file is being chosen.
    Saves,
}

/// What the dialog asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuitAction {
    /// Saves the session, and quits once it is there.
    Save,
    /// Quits; the runs are lost.
    Without,
    Stay,
}
