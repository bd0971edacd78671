//! The colour chooser above Plane and Space, and the colours that these panes draw with.

use std::sync::Arc;

use super::counters::bound_at;
use super::state::channel::{ColoringState, PointSet};
use super::state::{ColorAction, ColorBy, ColorMap, ColorView};
use super::{column_keys, column_title};
use crate::app::look::{Paint, PointPaints, own};
use crate::app::prelude::*;
use crate::cloud::Source;

/// The chooser, shared by Plane and Space; `plain` describes the pane's default colouring.
pub fn bar_ui(ui: &mut Ui, state: &State, session: &Session, plain: &str, actions: &mut Actions) {
    let mut view = state.color.clone();
    let shown =
        if view.by == ColorBy::Nothing { plain.to_owned() } else { format!("Colour by {}", view.by.text()) };
    let combo = ComboBox::from_id_salt("colour by").width(0.0).height(320.0).selected_text(shown);
    let response = combo.show_ui(ui, |ui| {
        for by in ColorBy::all() {
            if ui.selectable_label(view.by.is_like(&by), by.text()).on_hover_text(by.about()).clicked()
                && !view.by.is_like(&by)
            {
                view.choose(by);
            }
        }
    });
    name_chooser(&response.response, "Colour by", &view.by.text());
    match view.by.clone() {
        ColorBy::Axis(axis) => colour_axis_ui(ui, &mut view, axis, session),
        ColorBy::Column(key) => column_ui(ui, &mut view, &key, session),
        _ => {}
    }
    if view != state.color {
        actions.send(ColorAction::Set(view));
    }
}

fn colour_axis_ui(ui: &mut Ui, view: &mut ColorView, axis: usize, session: &Session) {
    let Some(cloud) = &session.cloud else { return };
    let name = cloud.axes().get(axis).map_or("choose", |axis| axis.name.as_str());
    let response = ComboBox::from_id_salt("colour axis")
        .width(90.0)
        .height(320.0)
        .selected_text(name)
        .show_ui(ui, |ui| {
            for (at, column) in cloud.axes().iter().enumerate() {
                if ui.selectable_label(at == axis, &column.name).clicked() {
                    view.choose(ColorBy::Axis(at));
                }
            }
        });
    name_widget(&response.response, Role::ComboBox, "Axis that colours");
}

fn column_ui(ui: &mut Ui, view: &mut ColorView, key: &str, session: &Session) {
    let Some(cloud) = &session.cloud else { return };
    if !matches!(cloud.source(), Source::File { .. }) {
        return;
    }
    let title = column_title(session, key).unwrap_or_else(|| "choose".to_owned());
    let known = session.file_columns();
    let response = ComboBox::from_id_salt("colour column")
        .width(90.0)
        .height(320.0)
        .selected_text(title)
        .show_ui(ui, |ui| {
            let Some(known) = known else {
                ui.label("Listing the file's columns…");
                return;
            };
            let mut keys: Vec<_> =
                column_keys(known.columns.iter().map(|column| column.name.as_str())).collect();
            // Label columns first: there may be hundreds of coordinates.
            keys.sort_by_key(|(name, _)| cloud.axes().iter().any(|axis| axis.name == *name));
            for (name, of) in keys {
                let shown = if name.is_empty() { format!("column {of}") } else { name.to_owned() };
                if ui.selectable_label(of == key, shown).clicked() {
                    view.choose(ColorBy::Column(of));
                }
            }
        });
    name_widget(&response.response, Role::ComboBox, "Column that colours");
}

pub fn paints(state: &State, session: &Session, palette: &Palette) -> PointPaints {
    let mut paints =
        PointPaints { data: Paint::Flat(palette.point), queries: Paint::Flat(palette.query), over: None };
    let ColoringState::Ready(channel) = &session.colored else { return paints };
    let Some((values, scale)) = channel.scaled(&state.color, palette.dark) else {
        paints.data = Paint::Flat(palette.muted);
        return paints;
    };
    let scaled = Paint::Scaled(values, scale, palette.muted);
    let asked = session
        .derived
        .as_ref()
        .filter(|_| state.color.by.is_of_queries())
        .and_then(|derived| derived.queried_rows.as_ref());
    match (channel.points, channel.sparse_rows.as_ref().or(asked)) {
        (PointSet::Queries, _) => (paints.data, paints.queries) = (Paint::Flat(palette.muted), scaled),
        (PointSet::Data, None) => paints.data = scaled,
        (PointSet::Data, Some(rows)) => {
            paints.data = Paint::Flat(palette.muted);
            paints.over = Some((Arc::clone(rows), scaled));
        }
    }
    paints
}

pub fn color_of(state: &State, session: &Session, palette: &Palette, row: usize) -> Option<Color32> {
    let ColoringState::Ready(channel) = &session.colored else { return None };
    let (values, scale) =
        channel.scaled(&state.color, palette.dark).filter(|_| channel.points == PointSet::Data)?;
    let value = *values.values.get(row)?;
    Some(match scale.map {
        _ if value.is_nan() => palette.muted,
        ColorMap::Categories => scale.map.category(value as usize, palette),
        ColorMap::Own => own(value as u32),
        map => map.color(scale.place(value), palette),
    })
}

/// The squared bound to draw as a circle, at the chosen moment or else at the end; ∞ if there are fewer than
/// k neighbours by then.
pub fn bound_shown(state: &State, answered: &QueryAnswer) -> f32 {
    let record = &answered.record;
    if state.color.by == ColorBy::Moment && record.convergence.queries() > answered.query {
        return bound_at(record, answered.query, state.color.moment).unwrap_or(f32::INFINITY);
    }
    answered.max_squared_distance()
}
