//! The frame-time benchmark: Space orbits (or Plane zooms) without a window, drawn by compute shaders and,
//! for comparison, by the rasteriser.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use eframe::egui_wgpu::wgpu;
use egui::{Color32, Rect, vec2};

use super::store::{Points, RowBuffers, Rows, Store};
use super::target::texture;
use super::{
    Drawing, FIRST_BUDGET, FIRST_BUDGET_SOFTWARE, FramePacer, Layer, LayerColors, Method, Renderer, cache,
};
use crate::app::features::color::state::{ColorMap, Scale};
use crate::app::look::Palette;
use crate::app::model::{PlaneCamera, Projection, SpaceCamera, SpaceView};
use crate::cloud::PointCloud;

#[derive(Clone, Debug)]
pub struct FrameBench {
    /// Frames per row; the rasteriser, which is only for comparison, is limited to about ten seconds.
    pub frames: u32,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Diameter of a point in pixels.
    pub point_size: f32,
    /// Plane instead of Space.
    pub plane: bool,
    /// Whether to use a software adapter even if there is a better one.
    pub software: bool,
}

/// Events during the benchmark.
pub enum BenchEvent<'a> {
    /// The current stage, and its progress from 0 to 1.
    Stage(&'a str, f32),
    /// A method was measured.
    Row(&'a FrameTimes),
}

/// Approximate time limit of the comparison, and its minimum number of frames.
const COMPARED_MS: f64 = 10_000.0;
const COMPARED_FRAMES: u32 = 3;

/// Warm-up time, after which one-time costs of the first frames are over.
const WARM_MS: f64 = 2_000.0;

#[derive(Clone, Debug)]
pub struct FrameTimes {
    pub method: Method,
    /// Whether points are lit, as in Space.
    pub eye_dome: bool,
    /// Whether frames draw only as many points as they have time for.
    pub level_of_detail: bool,
    /// Number of points in the last frame.
    pub points: u32,
    /// Time of each frame, ascending: encoding, drawing and waiting.
    pub milliseconds: Vec<f64>,
}

impl FrameTimes {
    pub fn name(&self) -> String {
        row_name(self.method, self.eye_dome, self.level_of_detail)
    }

    /// A quantile of the times; `part` is from 0 to 1.
    pub fn quantile(&self, part: f64) -> f64 {
        let last = self.milliseconds.len().saturating_sub(1);
        self.milliseconds.get((last as f64 * part).round() as usize).copied().unwrap_or(f64::NAN)
    }
}

fn row_name(method: Method, eye_dome: bool, level_of_detail: bool) -> String {
    let how = match (method, eye_dome) {
        (Method::Splat, false) => "compute shaders",
        (Method::Splat, true) => "compute shaders with eye-dome lighting",
        (Method::Quads, _) => "quads",
    };
    format!("{how}, {}", if level_of_detail { "level of detail" } else { "all points" })
}

/// Number of frames to measure in the comparison, of `asked`, given the time of one.
fn compared_frames(asked: u32, frame_ms: f64) -> u32 {
    // The cast saturates for floats beyond u32.
    asked.min(((COMPARED_MS / frame_ms) as u32).max(COMPARED_FRAMES))
}

pub struct FrameReport {
    /// The adapter's name, interface and driver.
    pub adapter: String,
    /// Time from the cloud in memory until the picture contains all points.
    pub opened_ms: f64,
    /// The longest frame in that time.
    pub longest_ms: f64,
    pub rows: Vec<FrameTimes>,
    /// The last complete picture by the best method, premultiplied, on the window's background.
    pub picture: egui::ColorImage,
}

/// Renders the benchmark's frames offscreen and times each.
///
/// # Errors
/// If there is no graphics adapter, the points exceed its memory, or it stops responding.
pub fn measure(
    cloud: &Arc<PointCloud>,
    bench: &FrameBench,
    on_event: &mut dyn FnMut(BenchEvent<'_>),
) -> anyhow::Result<FrameReport> {
    let offscreen = OffscreenDevice::open(bench.software)?;
    let info = offscreen.adapter.get_info();
    let adapter = format!("{}, {:?}, {} {}", info.name, info.backend, info.driver, info.driver_info);
    let store = Store::new(offscreen.device.clone(), offscreen.queue.clone(), || {});
    let stage = BenchTarget::new(&offscreen, cloud, bench);
    let best = Method::best(&offscreen.device, &offscreen.adapter);

    let opened = Instant::now();
    let (points, values) = upload(&store, cloud, stage.axes());
    let mut renderer = stage.renderer(best, FramePacer::fixed(u32::MAX));
    let mut longest_ms: f64 = 0.0;
    on_event(BenchEvent::Stage("opening the cloud", 0.0));
    loop {
        // The first frame prepares the pipelines.
        let complete = points.buffers().is_complete() && values.is_complete();
        longest_ms = longest_ms.max(stage.frame(&mut renderer, &points, &values, 0.0, (true, false))?.1);
        if complete {
            break;
        }
    }
    let opened_ms = opened.elapsed().as_secs_f64() * 1e3;
    let (resident, of) = (points.buffers().resident(), points.buffers().rows());
    anyhow::ensure!(resident == of, "the graphics adapter holds {resident} of {of} points; take fewer");

    let mut rows = Vec::new();
    // Only compute shaders light points, and only in Space.
    let mut methods = vec![(Method::Quads, false)];
    if best == Method::Splat {
        let lit = (!bench.plane).then_some((Method::Splat, true));
        methods.splice(..0, lit.into_iter().chain([(Method::Splat, false)]));
    }
    for &(method, eye_dome) in &methods {
        for level_of_detail in [false, true] {
            let first =
                if info.device_type == wgpu::DeviceType::Cpu { FIRST_BUDGET_SOFTWARE } else { FIRST_BUDGET };
            let mut renderer = stage.renderer(
                method,
                if level_of_detail { FramePacer::new(first, || {}) } else { FramePacer::fixed(u32::MAX) },
            );
            let name = row_name(method, eye_dome, level_of_detail);
            // Warm-up: pipelines are compiled, and the level of detail adapts.
            let warm_up = if level_of_detail { 40 } else { 3 };
            let (mut fastest, mut warmed) = (f64::INFINITY, 0.0);
            for frame in 0..warm_up {
                on_event(BenchEvent::Stage(&name, 0.0));
                let turn = f64::from(frame) / f64::from(bench.frames);
                let (_, ms) =
                    stage.frame(&mut renderer, &points, &values, turn, (eye_dome, level_of_detail))?;
                (fastest, warmed) = (f64::min(fastest, ms), warmed + ms);
                if !level_of_detail && warmed > WARM_MS {
                    break;
                }
            }
            let compared = method != best && !level_of_detail;
            let frames = if compared { compared_frames(bench.frames, fastest) } else { bench.frames };
            let (mut drawn, mut milliseconds) = (0, Vec::new());
            for frame in 0..frames {
                on_event(BenchEvent::Stage(&name, frame as f32 / frames as f32));
                // One full turn, whatever the number of frames.
                let turn = f64::from(warm_up + frame) / f64::from(frames);
                let (points, ms) =
                    stage.frame(&mut renderer, &points, &values, turn, (eye_dome, level_of_detail))?;
                (drawn, _) = (points, milliseconds.push(ms));
            }
            milliseconds.sort_by(f64::total_cmp);
            let row = FrameTimes { method, eye_dome, level_of_detail, points: drawn, milliseconds };
            on_event(BenchEvent::Row(&row));
            rows.push(row);
        }
    }
    let mut renderer = stage.renderer(best, FramePacer::fixed(u32::MAX));
    stage.frame(&mut renderer, &points, &values, 0.0, (true, false))?;
    let picture = stage.picture()?;
    Ok(FrameReport { adapter, opened_ms, longest_ms, rows, picture })
}

/// Uploads coordinates, and the last axis as values.
fn upload(store: &Store, cloud: &Arc<PointCloud>, axes: &[usize]) -> (Arc<Points>, Arc<RowBuffers>) {
    let rows = Rows::All(cloud.len() as u32);
    let points = Arc::new(store.points(&rows, cloud.dims(), cache::places(cloud, axes)));
    let (from, axis) = (Arc::clone(cloud), axes.last().copied().unwrap_or(0));
    let values = store.values(&rows, move |row| from.point(row as usize)[axis]);
    (points, values)
}

/// The target of the benchmark's frames.
struct BenchTarget<'a> {
    offscreen: &'a OffscreenDevice,
    bench: &'a FrameBench,
    cloud: &'a Arc<PointCloud>,
    output: wgpu::TextureView,
}

impl<'a> BenchTarget<'a> {
    fn new(offscreen: &'a OffscreenDevice, cloud: &'a Arc<PointCloud>, bench: &'a FrameBench) -> Self {
        let output = texture(
            &offscreen.device,
            bench.size,
            wgpu::TextureFormat::Rgba8Unorm,
            wgpu::TextureUsages::COPY_SRC,
        );
        Self { offscreen, bench, cloud, output }
    }

    fn axes(&self) -> &'static [usize] {
        if self.bench.plane { &[0, 1] } else { &[0, 1, 2] }
    }

    fn renderer(&self, method: Method, pace: FramePacer) -> Renderer {
        Renderer::new(
            &self.offscreen.device,
            &self.offscreen.queue,
            method,
            wgpu::TextureFormat::Rgba8Unorm,
            Arc::new(pace),
        )
    }

    fn projection(&self, turn: f64) -> Projection {
        let size = vec2(self.bench.size[0] as f32, self.bench.size[1] as f32);
        let rect = Rect::from_min_size(egui::Pos2::ZERO, size);
        if self.bench.plane {
            let mut camera = PlaneCamera::new(rect, None, self.cloud, [0, 1]);
            // Zooms in and out, so that every frame differs and most of the cloud is visible.
            camera.zoom(rect.center(), 1.0 + 0.2 * (turn * std::f64::consts::TAU).sin().abs() as f32);
            return camera.projection();
        }
        let view = SpaceView::default();
        let view = SpaceView { yaw: view.yaw + turn * std::f64::consts::TAU, ..view };
        SpaceCamera::new(rect, &view, self.cloud).projection()
    }

    /// Draws a frame as the window does; returns its number of points and its milliseconds.
    fn frame(
        &self,
        renderer: &mut Renderer,
        points: &Arc<Points>,
        values: &Arc<RowBuffers>,
        turn: f64,
        (eye_dome, moving): (bool, bool),
    ) -> anyhow::Result<(u32, f64)> {
        let OffscreenDevice { device, queue, .. } = self.offscreen;
        let axis =
            self.cloud.axes().get(self.axes().len() - 1).context("the cloud has too few dimensions")?;
        let (low, high) = ((axis.min - axis.origin) as f32, (axis.max - axis.origin) as f32);
        let scale = Scale { map: ColorMap::Viridis, low, high, log: false, dark: false };
        let ink = match self.bench.plane {
            true => LayerColors::Flat(Palette::LIGHT.point),
            false => LayerColors::Scaled(Arc::clone(values), scale, Color32::TRANSPARENT),
        };
        let projection = points.project(self.projection(turn), self.axes());
        let layer = Layer {
            points: Arc::clone(points),
            projection,
            diameter: self.bench.point_size,
            ink,
            opacity: 1.0,
        };
        let dense = self.bench.plane.then_some(Palette::LIGHT.text_weak);
        let drawing = Drawing {
            view: 0,
            size: self.bench.size,
            dense,
            eye_dome: eye_dome && !self.bench.plane,
            layers: vec![layer],
            moving,
            visible: 1.0,
        };

        let started = Instant::now();
        let mut encoder = self.offscreen.encoder();
        renderer.draw(device, queue, &mut encoder, &drawing);
        let [r, g, b, a] = egui::Rgba::from(Palette::LIGHT.canvas).to_array().map(f64::from);
        let mut pass = super::pipelines::pass(
            &mut encoder,
            &self.output,
            wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a }),
            None,
            None,
        );
        renderer.blit(0, &mut pass);
        drop(pass);
        self.offscreen.run(encoder)?;
        let ms = started.elapsed().as_secs_f64() * 1e3;
        Ok((renderer.pace.progress(0).map_or(0, |progress| progress.drawn), ms))
    }

    fn picture(&self) -> anyhow::Result<egui::ColorImage> {
        let pixels = self.offscreen.pixels(self.output.texture())?;
        let bytes: &[u8] = bytemuck::cast_slice(&pixels);
        Ok(egui::ColorImage::from_rgba_premultiplied(
            [self.bench.size[0] as usize, self.bench.size[1] as usize],
            bytes,
        ))
    }
}

// A graphics adapter without a window, for benchmark and tests.

/// Time limit of a frame.
const FRAME_TIMEOUT: Duration = Duration::from_secs(60);

/// The adapter and its queue.
pub struct OffscreenDevice {
    pub adapter: wgpu::Adapter,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
}

impl OffscreenDevice {
    /// Opens the fastest adapter, or the software one.
    ///
    /// # Errors
    /// If there is none, or it cannot be opened.
    pub fn open(software: bool) -> anyhow::Result<Self> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let adapters =
            pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN | wgpu::Backends::GL));
        let rank = |adapter: &wgpu::Adapter| {
            let info = adapter.get_info();
            let kind = match info.device_type {
                wgpu::DeviceType::DiscreteGpu => 0,
                wgpu::DeviceType::IntegratedGpu | wgpu::DeviceType::VirtualGpu | wgpu::DeviceType::Other => 1,
                wgpu::DeviceType::Cpu => 2,
            };
            (if software { 2 - kind } else { kind }, info.backend != wgpu::Backend::Vulkan)
        };
        let adapter = adapters.into_iter().min_by_key(rank).context("no graphics adapter")?;
        let (device, queue) =
            pollster::block_on(adapter.request_device(&crate::app::gpu::device_descriptor(&adapter)))
                .context("cannot open the graphics adapter")?;
        Ok(Self { adapter, device, queue })
    }

    /// Submits the encoded commands and waits for them.
    ///
    /// # Errors
    /// If the adapter does not finish.
    pub fn run(&self, encoder: wgpu::CommandEncoder) -> anyhow::Result<()> {
        let submission_index = Some(self.queue.submit([encoder.finish()]));
        self.device
            .poll(wgpu::PollType::Wait { submission_index, timeout: Some(FRAME_TIMEOUT) })
            .context("the graphics adapter does not finish")?;
        Ok(())
    }

    pub fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    }

    /// The pixels of a texture with four bytes per pixel, row by row.
    ///
    /// # Errors
    /// If the adapter does not finish.
    pub fn pixels(&self, texture: &wgpu::Texture) -> anyhow::Result<Vec<[u8; 4]>> {
        let (width, height) = (texture.width(), texture.height());
        let stride = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("pixels"),
            size: u64::from(stride) * u64::from(height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.encoder();
        encoder.copy_texture_to_buffer(
            texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(stride),
                    rows_per_image: None,
                },
            },
            texture.size(),
        );
        encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Read, .., |_| {});
        self.run(encoder)?;
        let bytes = buffer.get_mapped_range(..).context("the picture cannot be read back")?;
        let rows = bytes.chunks_exact(stride as usize);
        Ok(rows
            .flat_map(|row| bytemuck::cast_slice::<u8, [u8; 4]>(&row[..width as usize * 4]).to_vec())
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::cloud;

    #[test]
    fn slow_benchmarks_use_fewer_frames_and_report_each_row() {
        assert_eq!(
            [0.0, 1.0, 100.0, 2_000.0, 9_800.0].map(|ms| compared_frames(120, ms)),
            [120, 120, 100, 5, 3]
        );
        assert_eq!(compared_frames(2, 9_800.0), 2, "no more than requested");

        let bench = FrameBench { frames: 2, size: [64, 64], point_size: 2.0, plane: true, software: true };
        let (mut stages, mut names) = (Vec::new(), Vec::new());
        let report = measure(&cloud(50, 2, 1), &bench, &mut |event| match event {
            BenchEvent::Stage(what, fraction) => stages.push((what.to_owned(), fraction)),
            BenchEvent::Row(row) => names.push(row.name()),
        });
        let rows = report.expect("an adapter").rows;
        assert_eq!(names, rows.iter().map(FrameTimes::name).collect::<Vec<_>>());
        assert!(
            names.contains(&"quads, all points".to_owned())
                && rows.iter().all(|row| row.milliseconds.len() == 2),
            "{names:?}"
        );
        assert_eq!(stages[0], ("opening the cloud".to_owned(), 0.0));
        assert!(names.iter().all(|name| stages.contains(&(name.clone(), 0.5))), "{stages:?}");
    }
}
