//! Appearance: colours ([`tokens`], [`map`], [`paint`]), the focus, widgets, the wording around numbers, and painted shapes
//! exported as SVG.

pub mod code;
pub mod focus;
pub mod map;
pub mod marks;
pub mod paint;
pub mod svg;
pub mod tokens;
pub mod widgets;
pub mod words;

pub use code::{code_height, code_ui};
pub use focus::follow_ui;
pub use map::own;
pub use paint::{Paint, Paints};
pub use tokens::Palette;
pub use widgets::{
    command_ui, empty_ui, error_ui, fact_ui, field_ui, heading_ui, keys_text, menu_entry_ui, menu_items_ui, menu_ui, name_chooser, number, row_ui,
    sort_head_ui, wide_field_ui,
};
pub use words::{any_of, if_shuffled, percent};
