//! A row as the picture that it is.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use egui::mutex::Mutex;
use egui::{ColorImage, Image, Response, TextureHandle, TextureOptions, Ui, Vec2, vec2};

use crate::app::model::Pictures;
use crate::cloud::PointCloud;
use crate::text;

/// Pictures that are held on the graphics adapter.
const MOST: usize = 512;

/// Pictures by the cloud's address and the row. The cloud is held weakly, so that no other one comes to lie where it did.
#[derive(Default)]
struct Known(HashMap<(usize, usize), (Weak<PointCloud>, Pictures, TextureHandle)>);

/// The picture of a row of a cloud, as large as fits into a square.
pub fn picture_ui(ui: &mut Ui, cloud: &Arc<PointCloud>, row: usize, pictures: Pictures, side: f32) -> Response {
    let texture = texture(ui, cloud, row, pictures);
    let longest = pictures.width.max(pictures.height) as f32;
    let size: Vec2 = vec2(pictures.width as f32, pictures.height as f32) * (side / longest);
    let response = ui.add(Image::new((texture.id(), size)));
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, format!("Picture of row {}", text::thousands(cloud.record(row)))));
    response
}

fn texture(ui: &Ui, cloud: &Arc<PointCloud>, row: usize, pictures: Pictures) -> TextureHandle {
    let shared = ui.data_mut(|data| data.get_temp_mut_or_default::<Arc<Mutex<Known>>>(egui::Id::unique("pictures of rows")).clone());
    let mut known = shared.lock();
    let key = (Arc::as_ptr(cloud) as usize, row);
    if let Some((of, shown, texture)) = known.0.get(&key)
        && *shown == pictures
        && std::ptr::eq(of.as_ptr(), Arc::as_ptr(cloud))
    {
        return texture.clone();
    }
    let (pixels, size) = (pictures.pixels(cloud, row), [pictures.width, pictures.height]);
    let image = if pictures.channels == 3 { ColorImage::from_rgb(size, &pixels) } else { ColorImage::from_gray(size, &pixels) };
    let texture = ui.ctx().load_texture("picture of a row", image, TextureOptions::NEAREST);
    if known.0.len() >= MOST {
        known.0.clear();
    }
    known.0.insert(key, (Arc::downgrade(cloud), pictures, texture.clone()));
    texture
}
