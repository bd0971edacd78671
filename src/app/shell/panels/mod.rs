//! The panels around the panes, and the dialogs over them.

pub mod about;
pub mod answer;
pub mod finder;
pub mod hints;
pub mod problem;
pub mod selection;
pub mod status;
