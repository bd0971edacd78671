//! What most files above the floor of `look` use: the state and the actions that change it, our widgets, and
//! the words of egui for places, widgets and layout.

pub use egui::{
    Align, Align2, Button, Color32, ComboBox, FontId, Id, Key, Label, Layout, Modal, Pos2, Rect, Response,
    RichText, Role, ScrollArea, Sense, Stroke, TextEdit, Ui, Vec2, pos2, vec2,
};

pub use crate::app::look::{Palette, command_ui, empty_ui, keys_text, name_chooser, name_widget, number};
pub use crate::app::model::{
    About, Action, Actions, Activity, Answered, Command, PaneKind, Picked, Session, State,
};
