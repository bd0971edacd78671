//! A pane's request, and its uniforms for the shaders.

use std::sync::Arc;

use eframe::egui_wgpu::wgpu;
use egui::Color32;

use super::store::{Points, RowBuffers};
use crate::app::features::color::state::{ColorMap, Scale};
use crate::app::model::Projection;

/// A picture of points for one pane.
#[derive(Clone)]
pub struct Drawing {
    /// Identifies the pane's picture between frames.
    pub view: u64,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// The colour of high density, for a picture without depth that shows the number of points per pixel.
    pub dense: Option<Color32>,
    /// Whether points of the first layer behind nearer ones are darkened, for a picture with depth.
    pub eye_dome: bool,
    /// At most four. Later layers cover earlier ones, regardless of depth.
    pub layers: Vec<Layer>,
    /// Whether the view moves, so that only some of the points fit in a frame.
    pub moving: bool,
    /// Approximate fraction of the first layer that is visible.
    pub visible: f32,
}

/// Points with common size and colouring.
#[derive(Clone)]
pub struct Layer {
    pub points: Arc<Points>,
    pub projection: Projection,
    /// In physical pixels, independent of the UI scale.
    pub diameter: f32,
    pub ink: LayerColors,
    /// 1, or less for points in the background.
    pub opacity: f32,
}

/// Colours of a layer.
#[derive(Clone)]
pub enum LayerColors {
    Flat(Color32),
    /// By a value per point; points without one have the last colour.
    Scaled(Arc<RowBuffers>, Scale, Color32),
}

/// The inputs that determine which point covers which pixel.
#[derive(Clone, PartialEq)]
pub struct Geometry {
    size: [u32; 2],
    dense: bool,
    layers: Vec<(u64, Projection, f32)>,
}

/// The inputs that determine colours.
#[derive(Clone, PartialEq)]
pub struct Appearance(Vec<(Option<u64>, AppearanceUniform)>);

impl Drawing {
    /// The drawing with fewer, larger pixels, if it exceeds the device's limits.
    pub(super) fn within(&self, limits: &wgpu::Limits) -> Option<Self> {
        let [width, height] = self.size.map(f64::from);
        let side = f64::from(limits.max_texture_dimension_2d) / width.max(height);
        let area = (most_pixels(limits) as f64 / (width * height)).sqrt();
        let factor = side.min(area);
        if factor >= 1.0 {
            return None;
        }
        let mut smaller = self.clone();
        smaller.size = self.size.map(|side| ((f64::from(side) * factor) as u32).max(1));
        smaller.layers.iter_mut().for_each(|layer| layer.diameter *= factor as f32);
        Some(smaller)
    }

    pub(super) fn geometry(&self) -> Geometry {
        let layers = self
            .layers
            .iter()
            .map(|layer| (layer.points.buffers().id(), layer.projection, layer.diameter))
            .collect();
        Geometry { size: self.size, dense: self.dense.is_some(), layers }
    }

    pub(super) fn looks(&self) -> Appearance {
        let of = |(rank, layer): (usize, &Layer)| {
            (layer.values().map(|values| values.id()), look(self, layer, rank as u32))
        };
        Appearance(self.layers.iter().enumerate().map(of).collect())
    }
}

/// Maximum number of pixels of a picture. Compute shaders draw into buffers with four bytes per pixel;
/// without such buffers the rasteriser draws, and only the side length of textures is limited.
pub fn most_pixels(limits: &wgpu::Limits) -> u64 {
    match limits.max_storage_buffer_binding_size {
        0 => u64::MAX,
        bound => bound.min(limits.max_buffer_size) / 4,
    }
}

impl Appearance {
    pub(super) fn layer(&self, layer: usize) -> AppearanceUniform {
        self.0[layer].1
    }
}

impl Layer {
    /// The values that colours depend on.
    pub(super) fn values(&self) -> Option<&Arc<RowBuffers>> {
        match &self.ink {
            LayerColors::Flat(_) => None,
            LayerColors::Scaled(values, ..) => Some(values),
        }
    }
}

/// `View` of the shaders.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub struct ViewUniform {
    pub matrix: [[f32; 4]; 4],
    pub center: [f32; 4],
    pub size: [u32; 2],
    pub diameter: f32,
    pub first: u32,
    pub begin: u32,
    pub end: u32,
    pub rank: u32,
    pub step: u32,
}

/// `Look` of the shaders.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct AppearanceUniform {
    pub color: [f32; 4],
    pub dense: [f32; 4],
    pub missing: [f32; 4],
    pub scale: [f32; 4],
    pub painted: u32,
    pub dense_shows: u32,
    pub opacity: f32,
    pub diameter: f32,
    pub first: u32,
    pub count: u32,
    pub width: u32,
    pub rank: u32,
    pub focal: f32,
    pub reach: u32,
    pub height: u32,
    pub padding: u32,
    pub table: [[f32; 4]; 256],
}

fn rgba(color: Color32) -> [f32; 4] {
    color.to_array().map(|channel| f32::from(channel) / 255.0)
}

fn look(drawing: &Drawing, layer: &Layer, rank: u32) -> AppearanceUniform {
    let mut look: AppearanceUniform = bytemuck::Zeroable::zeroed();
    look.opacity = layer.opacity;
    look.diameter = layer.diameter;
    [look.width, look.height] = drawing.size;
    look.rank = rank;
    if drawing.eye_dome && rank == 0 {
        look.focal = layer.projection.focal_pixels(drawing.size[1]);
        // Beyond the point's own pixels, whose depth is the same.
        look.reach = layer.diameter.ceil().max(1.0) as u32;
    }
    if let (Some(dense), 0) = (drawing.dense, rank) {
        (look.dense_shows, look.dense) = (1, rgba(dense));
    }
    match &layer.ink {
        LayerColors::Flat(color) => look.color = rgba(*color),
        LayerColors::Scaled(_, scale, missing) => {
            look.painted = 1;
            look.missing = rgba(*missing);
            let (table, categories) = table(scale);
            look.table = table.map(rgba);
            let end = |value: f32| if scale.log { value.max(f32::MIN_POSITIVE).log2() } else { value };
            let (low, high) = (end(scale.low), end(scale.high));
            // If both ends are equal, values at or below them have the first colour.
            let factor = if high > low { 1.0 / (high - low) } else { 0.0 };
            look.scale = [low, factor, f32::from(u8::from(scale.log)), categories];
        }
    }
    look
}

/// The colours of a scale, and the number of categories: 0 if it is continuous, −1 if values are colours.
fn table(scale: &Scale) -> ([Color32; 256], f32) {
    let colors = scale.table();
    let categories = match scale.map {
        ColorMap::Categories => colors.len() as f32,
        ColorMap::Own => -1.0,
        ColorMap::Viridis | ColorMap::Cividis | ColorMap::Grey => 0.0,
    };
    (std::array::from_fn(|at| colors.get(at).copied().unwrap_or_default()), categories)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawings_shrink_to_the_device_limits() {
        let limits = wgpu::Limits {
            max_texture_dimension_2d: 1000,
            max_storage_buffer_binding_size: 4 * 250_000,
            ..wgpu::Limits::default()
        };
        let within = |size| {
            let drawing = Drawing {
                view: 0,
                size,
                dense: None,
                eye_dome: false,
                layers: Vec::new(),
                moving: false,
                visible: 1.0,
            };
            drawing.within(&limits).map(|smaller| smaller.size)
        };
        assert_eq!(within([1000, 250]), None);
        assert_eq!(within([2000, 20]), Some([1000, 10]));
        assert_eq!(within([1000, 1000]), Some([500, 500]));
        assert_eq!(within([4_000_000, 1]), Some([1000, 1]));
    }

    #[test]
    fn pixel_count_is_unlimited_without_storage_buffers() {
        let limits = wgpu::Limits::downlevel_webgl2_defaults();
        assert_eq!(limits.max_storage_buffer_binding_size, 0);
        assert_eq!(most_pixels(&limits), u64::MAX);
    }
}
