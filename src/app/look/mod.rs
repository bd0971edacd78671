//! Appearance: colours ([`tokens`]), what controls show ([`context`]), keyboard focus, widgets, tables, number formatting, and export of painted
//! shapes as SVG.

pub mod context;
pub mod focus;
pub mod svg;
pub mod table;
pub mod tokens;
pub mod widgets;

pub use context::UiContext;
pub use focus::follow_ui;
pub use tokens::{Paint, Palette, PointPaints, own};
pub use widgets::{
    any_of, code_height, code_ui, command_ui, empty_ui, error_ui, fact_ui, field_ui, heading_ui, if_shuffled,
    keys_text, menu_entry_ui, menu_items_ui, menu_ui, name_chooser, name_widget, number, percent, row_ui,
    wide_field_ui,
};
