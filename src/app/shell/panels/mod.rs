//! The panels around the panes, and the dialogs over them.

pub mod about;
pub mod answer;
pub mod chooser;
pub mod columns;
pub mod export;
pub mod finder;
pub mod hints;
pub mod parts;
pub mod problem;
pub mod quit;
pub mod selection;
pub mod shortcuts;
pub mod status;
pub mod unusable;
