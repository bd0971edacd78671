//! The picture of one pane: its texture, and what has been drawn into it.

use eframe::egui_wgpu::wgpu;

use super::drawing::{Appearance, Drawing, Geometry};

/// Pixel format of a picture, premultiplied.
pub const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// A pane's picture, in its own texture because egui's pass has no depth.
pub struct Target {
    pub color: wgpu::TextureView,
    pub bind: wgpu::BindGroup,
    pub size: [u32; 2],
    /// The inputs of its contents.
    pub shown: Option<(Geometry, Appearance)>,
    /// Number of points drawn, by layer.
    pub drawn: Vec<u32>,
}

/// Points of a layer, as a range of drawing indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    pub layer: usize,
    pub begin: u32,
    pub end: u32,
}

/// The work of one frame.
pub struct Plan {
    /// Whether the picture starts over.
    pub fresh: bool,
    /// What to draw; upper layers first.
    pub batches: Vec<Batch>,
}

impl Plan {
    pub fn points(&self) -> u32 {
        self.batches.iter().map(|batch| batch.end - batch.begin).sum()
    }
}

impl Target {
    pub fn new(device: &wgpu::Device, blit: &wgpu::BindGroupLayout, size: [u32; 2]) -> Self {
        let color = texture(
            device,
            size,
            COLOR,
            wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_SRC,
        );
        let bind = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("blit"),
            layout: blit,
            entries: &[wgpu::BindGroupEntry {
                binding: 0,
                resource: wgpu::BindingResource::TextureView(&color),
            }],
        });
        Self { color, bind, size, shown: None, drawn: Vec::new() }
    }

    /// Plans the next frame of a drawing with at most `budget` points; `None` if the picture is complete.
    /// `redraw_for_looks` says whether a change of colours requires redrawing all points.
    pub fn plan(&mut self, drawing: &Drawing, budget: u32, redraw_for_looks: bool) -> Option<Plan> {
        let (geometry, looks) = (drawing.geometry(), drawing.looks());
        let (same_points, same_looks) =
            self.shown.as_ref().map_or((false, false), |shown| (shown.0 == geometry, shown.1 == looks));
        let fresh = !same_points || (redraw_for_looks && !same_looks);
        if fresh {
            self.drawn = vec![0; drawing.layers.len()];
        }
        let mut batches = Vec::new();
        let mut left = budget;
        for (layer, drawn) in self.drawn.iter_mut().enumerate().rev() {
            let uploaded = drawing.layers[layer].points.buffers().uploaded();
            // Layers above the cloud leave half of the budget to it.
            let most = if layer == 0 { left } else { left / 2 };
            // While the view moves, a finished picture is not extended, to avoid flicker.
            let end = if drawing.moving {
                uploaded.min(most).max(*drawn)
            } else {
                uploaded.min(drawn.saturating_add(most))
            };
            if end > *drawn {
                batches.push(Batch { layer, begin: *drawn, end });
                left -= (end - *drawn).min(left);
            }
            *drawn = end;
        }
        if !fresh && same_looks && batches.is_empty() {
            return None;
        }
        self.shown = Some((geometry, looks));
        Some(Plan { fresh, batches })
    }
}

/// Creates a texture to draw into.
pub fn texture(
    device: &wgpu::Device,
    size: [u32; 2],
    format: wgpu::TextureFormat,
    usage: wgpu::TextureUsages,
) -> wgpu::TextureView {
    device
        .create_texture(&wgpu::TextureDescriptor {
            label: Some("picture"),
            size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: usage | wgpu::TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        })
        .create_view(&wgpu::TextureViewDescriptor::default())
}
