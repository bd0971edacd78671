//! Names that most files above `look` use: state, actions, our widgets, and egui's geometry, widgets and
//! layout.

pub use egui::{
    Align, Align2, Button, Color32, ComboBox, FontId, Id, Key, Label, Layout, Modal, Pos2, Rect, Response,
    RichText, Role, ScrollArea, Sense, Stroke, TextEdit, Ui, Vec2, pos2, vec2,
};

pub use crate::app::look::{
    Palette, UiContext, command_ui, empty_ui, keys_text, name_chooser, name_widget, number,
};
pub use crate::app::model::{
    Action, Actions, Activity, Command, PaneKind, PickedPoint, QueryAnswer, Session, State, Subject,
    Workspace,
};
