//! Points on the GPU: uploaded once per cloud, drawn into one texture per pane, which the pane then blits. A
//! texture is drawn again only when its inputs have changed.
//!
//! | module | role |
//! |---|---|
//! | `store` | coordinates and values of rows in GPU buffers, in a random order |
//! | `drawing` | a pane's request |
//! | `target` | what has been drawn so far, and what one frame adds |
//! | `splat` | draws with compute shaders |
//! | `quads` | draws with the rasteriser, if compute shaders are not available |
//! | `pace` | number of points that fit in one frame, measured by the GPU's clock |
//! | `cache` | the buffers of each pane, and drawing within egui's frames |
//! | `frames` | the frame-time benchmark, without a window |

use std::collections::HashMap;
use std::sync::Arc;

use eframe::egui_wgpu::{self, wgpu};
use pace::GpuTimer;
use pipelines::Binding;
use quads::QuadRenderer;
use splat::SplatRenderer;
use target::{Plan, Target};

mod cache;
mod drawing;
mod frames;
mod pace;
mod pipelines;
mod quads;
mod splat;
mod store;
mod target;
#[cfg(test)]
mod tests;

pub use cache::{Gpu, PointsCallback};
pub use drawing::{Drawing, Layer, LayerColors, most_pixels};
pub use frames::{BenchEvent, FrameBench, FrameReport, FrameTimes, measure};
pub use pace::{FramePacer, Progress};
pub use store::Points;

/// Minimum number of points to keep visible while the view moves, if the cloud has that many.
const MIN_VISIBLE_POINTS: f32 = 10_000.0;

/// Points per frame before the first measurement.
const FIRST_BUDGET_SOFTWARE: u32 = 200_000;
const FIRST_BUDGET: u32 = 4_000_000;

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Splat,
    Quads,
}

impl Method {
    /// The fastest method that the device supports.
    pub fn best(device: &wgpu::Device, adapter: &wgpu::Adapter) -> Self {
        if splat::is_supported(device, adapter) { Self::Splat } else { Self::Quads }
    }
}

enum PointRenderer {
    Splat(Box<SplatRenderer>),
    Quads(Box<QuadRenderer>),
}

/// One frame's share of a picture, and what it is drawn with.
struct DrawContext<'a> {
    device: &'a wgpu::Device,
    queue: &'a wgpu::Queue,
    encoder: &'a mut wgpu::CommandEncoder,
    drawing: &'a Drawing,
    plan: &'a Plan,
    target: &'a Target,
    times: Option<&'a wgpu::QuerySet>,
}

/// Draws scenes into textures, and blits these into render passes.
pub struct Renderer {
    drawer: PointRenderer,
    blit: wgpu::RenderPipeline,
    blit_layout: wgpu::BindGroupLayout,
    targets: HashMap<u64, Target>,
    meter: Option<GpuTimer>,
    pace: Arc<FramePacer>,
}

impl Renderer {
    /// Creates the pipelines. `format` is that of the target of [`Self::blit`].
    pub fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        method: Method,
        format: wgpu::TextureFormat,
        pace: Arc<FramePacer>,
    ) -> Self {
        let blit_layout =
            pipelines::layout(device, "blit", wgpu::ShaderStages::FRAGMENT, &[Binding::Texture]);
        let blend = Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING);
        let blit = pipelines::render(
            device,
            "blit",
            include_str!("../../../assets/blit.wgsl"),
            &blit_layout,
            &[],
            format,
            blend,
            None,
        );
        let drawer = match method {
            Method::Splat => PointRenderer::Splat(Box::new(SplatRenderer::new(device))),
            Method::Quads => PointRenderer::Quads(Box::new(QuadRenderer::new(device))),
        };
        let meter = GpuTimer::new(device, queue);
        if meter.is_some() {
            pace.measures();
        }
        Self { drawer, blit, blit_layout, targets: HashMap::new(), meter, pace }
    }

    /// Draws one frame's share of a picture; does nothing once the picture is complete.
    pub fn draw(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
        drawing: &Drawing,
    ) {
        while let Some((points, ms)) = self.meter.as_mut().and_then(GpuTimer::try_recv) {
            self.pace.measured(points, ms);
        }
        let smaller = drawing.within(&device.limits());
        let drawing = smaller.as_ref().unwrap_or(drawing);
        let Some(cloud) = drawing.layers.first().map(|layer| layer.points.buffers()) else { return };
        if self.targets.get(&drawing.view).is_none_or(|target| target.size != drawing.size) {
            self.targets.insert(drawing.view, Target::new(device, &self.blit_layout, drawing.size));
        }
        let Some(target) = self.targets.get_mut(&drawing.view) else { return };
        // If only a small part of the cloud is visible, more points are drawn so that the view is not empty.
        let budget = self.pace.budget().max((MIN_VISIBLE_POINTS / drawing.visible.max(0.01)) as u32);
        let plan = target.plan(drawing, budget, matches!(self.drawer, PointRenderer::Quads(_)));
        let progress = Progress {
            drawn: target.drawn[0],
            resident: cloud.resident(),
            total: cloud.rows(),
            moving: drawing.moving,
        };
        self.pace.shows(drawing.view, progress);
        let Some(plan) = plan else { return };
        let times = self.meter.as_ref().and_then(GpuTimer::set);
        let share = DrawContext { device, queue, encoder, drawing, plan: &plan, target, times };
        match &mut self.drawer {
            PointRenderer::Splat(splat) => splat.draw(share),
            PointRenderer::Quads(quads) => quads.draw(share),
        }
        if times.is_some()
            && let Some(meter) = &mut self.meter
        {
            meter.finish(encoder, plan.points());
        }
        self.pace.changed();
    }

    #[cfg(test)]
    fn texture(&self, view: u64) -> &wgpu::Texture {
        self.targets[&view].color.texture()
    }

    /// Blits a picture into a pass, filling the pass's viewport.
    pub fn blit(&self, view: u64, pass: &mut wgpu::RenderPass<'_>) {
        let Some(target) = self.targets.get(&view) else { return };
        pass.set_pipeline(&self.blit);
        pass.set_bind_group(0, &target.bind, &[]);
        pass.draw(0..4, 0..1);
    }
}

/// Size in bytes of the buffers for a picture of 8192 × 8192 pixels, the largest that egui's defaults allow.
const MAX_PICTURE_BYTES: u64 = 1 << 28;

/// The device to request: egui's defaults, plus buffers for the largest picture, and timestamp queries if
/// supported.
pub fn device_descriptor(adapter: &wgpu::Adapter) -> wgpu::DeviceDescriptor<'static> {
    let asked = egui_wgpu::WgpuSetupCreateNew::without_display_handle();
    let mut descriptor = (asked.device_descriptor)(adapter);
    descriptor.required_features = adapter.features() & wgpu::Features::TIMESTAMP_QUERY;
    let bound = &mut descriptor.required_limits.max_storage_buffer_binding_size;
    *bound = (*bound).max(adapter.limits().max_storage_buffer_binding_size.min(MAX_PICTURE_BYTES));
    descriptor
}
