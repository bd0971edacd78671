//! The tooltip of the hovered point.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use egui::mutex::Mutex;
use egui::{ColorImage, Grid, Image, TextureHandle, TextureOptions, Tooltip};

use super::empty::PaneContext;
use crate::app::features::color::state::channel::{ColoringState, PointSet};
use crate::app::features::picking::state::ExtraCells;
use crate::app::model::{ImageShape, RoleChoice};
use crate::app::prelude::*;
use crate::cloud::formats::Cell;
use crate::cloud::{PointCloud, Source};
use crate::knn::Measure;
use crate::text;

/// Number of coordinates, and of other columns, listed.
const MAX_LISTED: usize = 8;

/// Side length of an image.
const IMAGE_SIDE: f32 = 84.0;

/// Distance of the tooltip from the point, in screen points.
const CLEARANCE: f32 = 24.0;

/// Draws the tooltip of the point hovered in this pane; `screen` gives a row's position.
pub fn hover_ui(
    ui: &Ui,
    response: &Response,
    rect: Rect,
    pane: PaneKind,
    context: &PaneContext<'_>,
    screen: &dyn Fn(&PointCloud, usize) -> Option<Pos2>,
) {
    let session = context.session;
    let hovered = session.hovered.filter(|hovered| hovered.pane == pane && !session.has_dialog());
    let Some(hovered) = hovered else { return };
    let Some((cloud, row)) = session.point(hovered.what) else { return };
    let Some(place) = screen(cloud, row).filter(|place| rect.contains(*place)) else { return };
    let anchor = Rect::from_center_size(place, vec2(CLEARANCE, CLEARANCE));
    Tooltip::always_open(ui.ctx().clone(), response.layer_id, response.id.with("hovered"), anchor).show(
        |ui| {
            let known =
                context.lookup.known(cloud, &[row as u32]).and_then(|found| found.as_ref().as_ref().ok());
            let called = known
                .and_then(|others| named(session, others))
                .map_or_else(String::new, |name| format!("{name}, "));
            ui.label(RichText::new(format!("{called}{}", title(session, hovered.what, cloud, row))).strong());
            if let Some(pictures) = session.pictures(cloud) {
                picture_ui(ui, cloud, row, pictures, IMAGE_SIDE);
            }
            Grid::new("facts").num_columns(2).spacing([10.0, 2.0]).show(ui, |ui| {
                for (name, value) in facts(session, hovered.what, cloud, row) {
                    ui.label(context.palette.weak(name));
                    ui.label(number(value));
                    ui.end_row();
                }
                let lookup = context.lookup;
                let coloring = coloring(session, hovered.what, row)
                    .filter(|(title, _)| cloud.axes().iter().all(|axis| axis.name != *title));
                if let Some((title, value)) = &coloring {
                    ui.label(context.palette.weak(title));
                    ui.label(number(value));
                    ui.end_row();
                }
                match lookup.known(cloud, &[row as u32]).map(|found| &**found) {
                    Some(Ok(others)) => {
                        // Columns already shown as name or colour value are skipped.
                        let is_role = |choice: &RoleChoice, name: &str| {
                            choice.column().is_some_and(|column| column.name == name)
                        };
                        let shown = |name: &str| {
                            is_role(&session.roles.name, name)
                                || coloring.as_ref().is_some_and(|(title, _)| title == name)
                        };
                        let mut cells: Vec<_> = others
                            .columns
                            .iter()
                            .zip(others.rows.iter().flatten())
                            .filter(|(name, _)| !shown(name))
                            .collect();
                        cells.sort_by_key(|(name, _)| !is_role(&session.roles.label, name));
                        for (name, cell) in cells.into_iter().take(MAX_LISTED) {
                            ui.label(context.palette.weak(name));
                            ui.label(cell_text(cell));
                            ui.end_row();
                        }
                        let left = others.total - others.columns.iter().filter(|name| shown(name)).count();
                        if left > MAX_LISTED {
                            let more = format!("and {} more columns", left - MAX_LISTED);
                            ui.label(context.palette.small(more));
                            ui.end_row();
                        }
                    }
                    Some(Err(why)) => {
                        ui.label(RichText::new(why).color(context.palette.warning).small());
                        ui.end_row();
                    }
                    None if lookup.is_reading(cloud, &[row as u32]) => {
                        ui.label(context.palette.small("reading its file…"));
                        ui.end_row();
                    }
                    None => {}
                }
            });
        },
    );
}

/// A row's name, from the column that the user chose.
fn named(session: &Session, others: &ExtraCells) -> Option<String> {
    let column = session.roles.name.column()?;
    let at = others.columns.iter().position(|name| *name == column.name)?;
    Some(cell_text(others.rows.first()?.get(at)?))
}

fn title(session: &Session, what: PickedPoint, cloud: &PointCloud, row: usize) -> String {
    let record = text::thousands(cloud.record(row));
    match what {
        _ if matches!(cloud.source(), Source::Coordinates(_)) => "The query, a place".to_owned(),
        PickedPoint::Query(query) => {
            format!("Query {} (row {record} of its file)", text::thousands(query as u64))
        }
        PickedPoint::Row(_) if session.picked == Some(what) => format!("Row {record}, the query"),
        PickedPoint::Row(_) => format!("Row {record}"),
        PickedPoint::Coordinates => "The query, a place".to_owned(),
    }
}

/// The colouring's title and the point's value, unless the tooltip lists it as a counter.
fn coloring(session: &Session, what: PickedPoint, row: usize) -> Option<(String, String)> {
    let ColoringState::Ready(channel) = &session.colored else { return None };
    let same = match what {
        PickedPoint::Row(_) => channel.points == PointSet::Data,
        PickedPoint::Query(_) => channel.points == PointSet::Queries,
        PickedPoint::Coordinates => false,
    };
    let told = counted(session).any(|(name, _)| name == channel.title);
    let value = channel.text(row).filter(|_| same && !told)?;
    Some((channel.title.clone(), value))
}

/// Number of measures listed.
const MAX_MEASURES: usize = 2;

/// Counters of the hovered query, up to the limit.
fn counted(session: &Session) -> impl Iterator<Item = (String, u32)> {
    let of = session
        .record
        .as_ref()
        .zip(session.hovered_query)
        .filter(|(record, query)| *query < record.measured.queries());
    of.into_iter()
        .flat_map(|(record, query)| record.measured.for_query(query).take(MAX_MEASURES))
        .map(|(name, value)| (Measure::words(name), value))
}

/// Facts that need no file access.
fn facts(session: &Session, what: PickedPoint, cloud: &PointCloud, row: usize) -> Vec<(String, String)> {
    // For images, pixel values are less useful than the image.
    let listed = if session.pictures(cloud).is_some() { 0 } else { MAX_LISTED };
    let mut facts: Vec<(String, String)> = cloud
        .axes()
        .iter()
        .enumerate()
        .take(listed)
        .map(|(axis, of)| (of.name.clone(), text::coordinate(cloud.coordinate(row, axis))))
        .collect();
    if listed > 0 && cloud.dims() > listed {
        facts.push(("more".to_owned(), format!("{} coordinates", cloud.dims() - listed)));
    }
    if let (PickedPoint::Row(row), Some(answered)) = (what, &session.answered)
        && let Some((rank, (_, squared))) =
            answered.neighbors().enumerate().find(|(_, (neighbor, _))| *neighbor == row)
    {
        facts.push(("rank".to_owned(), text::thousands(rank as u64 + 1)));
        let metric = answered.record.spec.metric;
        facts.push((metric.heading().to_owned(), text::digits(metric.distance(squared), 6)));
    }
    facts.extend(counted(session).map(|(name, value)| (name, text::thousands(value.into()))));
    facts
}

/// A cell as text; long texts are truncated.
pub(super) fn cell_text(cell: &Cell) -> String {
    match cell {
        Cell::Number(value) => text::coordinate(*value),
        Cell::Text(text) if text.chars().count() > 60 => {
            format!("{}…", text.chars().take(60).collect::<String>())
        }
        Cell::Text(text) => text.clone(),
        Cell::Missing => "–".to_owned(),
    }
}

// Rows that are images.

/// Maximum number of textures cached on the graphics adapter.
const MAX_TEXTURES: usize = 512;

/// Textures by cloud address and row. The weak pointer keeps the address from being reused.
#[derive(Default)]
struct TextureCache(HashMap<(usize, usize), (Weak<PointCloud>, ImageShape, TextureHandle)>);

/// The image of a row, scaled to fit a square.
pub fn picture_ui(
    ui: &mut Ui,
    cloud: &Arc<PointCloud>,
    row: usize,
    pictures: ImageShape,
    side: f32,
) -> Response {
    let texture = texture(ui, cloud, row, pictures);
    let longest = pictures.width.max(pictures.height) as f32;
    let size: Vec2 = vec2(pictures.width as f32, pictures.height as f32) * (side / longest);
    let response = ui.add(Image::new((texture.id(), size)));
    name_widget(&response, Role::Image, &format!("Picture of row {}", text::thousands(cloud.record(row))));
    response
}

fn texture(ui: &Ui, cloud: &Arc<PointCloud>, row: usize, pictures: ImageShape) -> TextureHandle {
    let shared = ui.data_mut(|data| {
        data.get_temp_mut_or_default::<Arc<Mutex<TextureCache>>>(Id::unique("pictures of rows")).clone()
    });
    let mut known = shared.lock();
    let key = (Arc::as_ptr(cloud) as usize, row);
    if let Some((of, shown, texture)) = known.0.get(&key)
        && *shown == pictures
        && std::ptr::eq(of.as_ptr(), Arc::as_ptr(cloud))
    {
        return texture.clone();
    }
    let (pixels, size) = (pictures.pixels(cloud, row), [pictures.width, pictures.height]);
    let image = if pictures.channels == 3 {
        ColorImage::from_rgb(size, &pixels)
    } else {
        ColorImage::from_gray(size, &pixels)
    };
    let texture = ui.ctx().load_texture("picture of a row", image, TextureOptions::NEAREST);
    if known.0.len() >= MAX_TEXTURES {
        known.0.clear();
    }
    known.0.insert(key, (Arc::downgrade(cloud), pictures, texture.clone()));
    texture
}
