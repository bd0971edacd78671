//! How long frames take: Space orbits (or Plane zooms) without a window, by compute shaders and, in the same run, by the
//! rasteriser.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use eframe::egui_wgpu::wgpu;
use egui::{Color32, Rect, vec2};

use super::offscreen::Offscreen;
use super::store::{Points, Rows, Store, Stored};
use super::target::texture;
use super::{Drawing, FIRST_BUDGET, FIRST_BUDGET_SOFTWARE, Ink, Layer, Method, Pace, Renderer, cache};
use crate::app::camera::{PlaneCamera, Projection, SpaceCamera};
use crate::app::color::{ColorMap, Scale};
use crate::app::state::SpaceView;
use crate::app::tokens::Palette;
use crate::cloud::PointCloud;

/// What is measured.
#[derive(Clone, Debug)]
pub struct FrameBench {
    /// Frames of each row.
    pub frames: u32,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Diameter of a point in pixels.
    pub point_size: f32,
    /// Plane instead of Space.
    pub plane: bool,
    /// An adapter that a processor plays, also where there is a better one.
    pub software: bool,
}

/// Frame times of one way to draw.
#[derive(Clone, Debug)]
pub struct FrameTimes {
    /// Which.
    pub method: Method,
    /// Whether a frame draws as many points as it has time for.
    pub level_of_detail: bool,
    /// How many points the last frame drew.
    pub points: u32,
    /// Of each frame, ascending: encoding, drawing and waiting for it.
    pub milliseconds: Vec<f64>,
}

impl FrameTimes {
    /// The time that a part of the frames keep to, 0 to 1.
    pub fn quantile(&self, part: f64) -> f64 {
        let last = self.milliseconds.len().saturating_sub(1);
        self.milliseconds.get((last as f64 * part).round() as usize).copied().unwrap_or(f64::NAN)
    }
}

/// What was measured.
pub struct FrameReport {
    /// The adapter's name, interface and driver.
    pub adapter: String,
    /// From the cloud in memory to the last of its points in the picture.
    pub opened_ms: f64,
    /// The longest frame meanwhile.
    pub longest_ms: f64,
    /// Each way to draw.
    pub rows: Vec<FrameTimes>,
    /// The last picture of all points by the best method, premultiplied, on the window's ground.
    pub picture: egui::ColorImage,
}

/// Measures.
///
/// # Errors
/// When there is no graphics adapter, it holds too few points, or it stops.
pub fn measure(cloud: &Arc<PointCloud>, bench: &FrameBench) -> anyhow::Result<FrameReport> {
    let offscreen = Offscreen::open(bench.software)?;
    let info = offscreen.adapter.get_info();
    let adapter = format!("{}, {:?}, {} {}", info.name, info.backend, info.driver, info.driver_info);
    let store = Store::new(offscreen.device.clone(), offscreen.queue.clone(), || {});
    let stage = Stage::new(&offscreen, cloud, bench);
    let best = Method::best(&offscreen.device, &offscreen.adapter);

    let opened = Instant::now();
    let (points, values) = upload(&store, cloud, stage.axes());
    let mut renderer = stage.renderer(best, Pace::fixed(u32::MAX));
    let mut longest_ms: f64 = 0.0;
    loop {
        // The first frame makes the pipelines ready.
        let complete = points.stored().is_complete() && values.is_complete();
        longest_ms = longest_ms.max(stage.frame(&mut renderer, &points, &values, 0.0, false)?.1);
        if complete {
            break;
        }
    }
    let opened_ms = opened.elapsed().as_secs_f64() * 1e3;
    let (held, of) = (points.stored().held(), points.stored().rows());
    anyhow::ensure!(held == of, "the graphics adapter holds {held} of {of} points; take fewer");

    let mut rows = Vec::new();
    let methods = if best == Method::Splat { vec![Method::Splat, Method::Quads] } else { vec![Method::Quads] };
    for &method in &methods {
        for level_of_detail in [false, true] {
            let first = if info.device_type == wgpu::DeviceType::Cpu { FIRST_BUDGET_SOFTWARE } else { FIRST_BUDGET };
            let mut renderer = stage.renderer(method, if level_of_detail { Pace::new(first, || {}) } else { Pace::fixed(u32::MAX) });
            // The level of detail learns first; pipelines are compiled.
            let warm_up = if level_of_detail { 40 } else { 3 };
            let (mut drawn, mut milliseconds) = (0, Vec::new());
            for frame in 0..warm_up + bench.frames {
                let turn = f64::from(frame) / f64::from(bench.frames);
                let (points, ms) = stage.frame(&mut renderer, &points, &values, turn, level_of_detail)?;
                if frame >= warm_up {
                    (drawn, _) = (points, milliseconds.push(ms));
                }
            }
            milliseconds.sort_by(f64::total_cmp);
            rows.push(FrameTimes { method, level_of_detail, points: drawn, milliseconds });
        }
    }
    let mut renderer = stage.renderer(best, Pace::fixed(u32::MAX));
    stage.frame(&mut renderer, &points, &values, 0.0, false)?;
    let picture = stage.picture()?;
    Ok(FrameReport { adapter, opened_ms, longest_ms, rows, picture })
}

/// Places, and the last shown axis as values.
fn upload(store: &Store, cloud: &Arc<PointCloud>, axes: &[usize]) -> (Arc<Points>, Arc<Stored>) {
    let rows = Rows::All(cloud.len() as u32);
    let points = Arc::new(store.points(&rows, cloud.dims(), cache::places(cloud, axes)));
    let (from, axis) = (Arc::clone(cloud), axes.last().copied().unwrap_or(0));
    let values = store.values(&rows, move |row| from.point(row as usize)[axis]);
    (points, values)
}

/// Where frames are drawn.
struct Stage<'a> {
    offscreen: &'a Offscreen,
    bench: &'a FrameBench,
    cloud: &'a Arc<PointCloud>,
    output: wgpu::TextureView,
}

impl<'a> Stage<'a> {
    fn new(offscreen: &'a Offscreen, cloud: &'a Arc<PointCloud>, bench: &'a FrameBench) -> Self {
        let output = texture(&offscreen.device, bench.size, wgpu::TextureFormat::Rgba8Unorm, wgpu::TextureUsages::COPY_SRC);
        Self { offscreen, bench, cloud, output }
    }

    fn axes(&self) -> &'static [usize] {
        if self.bench.plane { &[0, 1] } else { &[0, 1, 2] }
    }

    fn renderer(&self, method: Method, pace: Pace) -> Renderer {
        Renderer::new(&self.offscreen.device, &self.offscreen.queue, method, wgpu::TextureFormat::Rgba8Unorm, Arc::new(pace))
    }

    fn projection(&self, turn: f64) -> Projection {
        let size = vec2(self.bench.size[0] as f32, self.bench.size[1] as f32);
        let rect = Rect::from_min_size(egui::Pos2::ZERO, size);
        if self.bench.plane {
            let mut camera = PlaneCamera::new(rect, None, self.cloud, [0, 1]);
            // In and out again, so that every frame is another one and most of the cloud is in sight.
            camera.zoom(rect.center(), 1.0 + 0.2 * (turn * std::f64::consts::TAU).sin().abs() as f32);
            return camera.projection();
        }
        let view = SpaceView::default();
        let view = SpaceView { yaw: view.yaw + turn * std::f64::consts::TAU, ..view };
        SpaceCamera::new(rect, &view, self.cloud).projection()
    }

    /// A frame as the window has it; how many points are in it, and its milliseconds.
    fn frame(&self, renderer: &mut Renderer, points: &Arc<Points>, values: &Arc<Stored>, turn: f64, moving: bool) -> anyhow::Result<(u32, f64)> {
        let Offscreen { device, queue, .. } = self.offscreen;
        let axis = self.cloud.axes().get(self.axes().len() - 1).context("the cloud has too few dimensions")?;
        let (low, high) = ((axis.min - axis.origin) as f32, (axis.max - axis.origin) as f32);
        let scale = Scale { map: ColorMap::Viridis, low, high, log: false, dark: false };
        let ink = match self.bench.plane {
            true => Ink::Flat(Palette::LIGHT.point),
            false => Ink::Scaled(Arc::clone(values), scale, Color32::TRANSPARENT),
        };
        let projection = points.project(self.projection(turn), self.axes());
        let layer = Layer { points: Arc::clone(points), projection, diameter: self.bench.point_size, ink, opacity: 1.0 };
        let dense = self.bench.plane.then_some(Palette::LIGHT.text_weak);
        let drawing = Drawing { view: 0, size: self.bench.size, dense, layers: vec![layer], moving, visible: 1.0 };

        let started = Instant::now();
        let mut encoder = self.offscreen.encoder();
        renderer.draw(device, queue, &mut encoder, &drawing);
        let [r, g, b, a] = egui::Rgba::from(Palette::LIGHT.canvas).to_array().map(f64::from);
        let mut pass = super::pipelines::pass(&mut encoder, &self.output, wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a }), None, None);
        renderer.blit(0, &mut pass);
        drop(pass);
        self.offscreen.run(encoder)?;
        let ms = started.elapsed().as_secs_f64() * 1e3;
        Ok((renderer.pace.progress(0).map_or(0, |progress| progress.drawn), ms))
    }

    fn picture(&self) -> anyhow::Result<egui::ColorImage> {
        let pixels = self.offscreen.pixels(self.output.texture())?;
        let bytes: &[u8] = bytemuck::cast_slice(&pixels);
        Ok(egui::ColorImage::from_rgba_premultiplied([self.bench.size[0] as usize, self.bench.size[1] as usize], bytes))
    }
}
