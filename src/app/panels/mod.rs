//! What stands around the panes.

mod export;
mod finder;
mod hints;
mod parts;
mod problem;
mod selection;
mod shortcuts;
mod status;

pub use export::{export_ui, offer_name};
pub use finder::finder_ui;
pub use hints::hints_ui;
pub use parts::parts_ui;
pub use problem::problem_ui;
pub use selection::selection_ui;
pub use shortcuts::shortcuts_ui;
pub use status::status_ui;
