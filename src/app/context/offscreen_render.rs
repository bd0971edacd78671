//! Renders the window or a pane offscreen, at any number of pixels per point or as SVG. A screenshot would be
//! limited to the screen's resolution.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use eframe::egui_wgpu::{RenderState, Renderer, RendererOptions, wgpu};
use egui::mutex::RwLock;
use egui_kittest::Harness;
use egui_kittest::wgpu::WgpuTestRenderer;

use super::app::App;
use crate::app::features::export::state::is_svg;
use crate::app::gpu;
use crate::app::look::svg;
use crate::app::model::{Layout, Picture};
use crate::app::prelude::*;

/// Frames until tables and plots have settled on their widths.
const SETTLE_FRAMES: usize = 6;

/// Maximum number of frames for drawing a large cloud, which takes several.
const MAX_DRAW_FRAMES: usize = 10_000;

pub struct OffscreenRender {
    /// Views and fields, copied from the window.
    pub state: State,
    pub session: Session,
    /// Width and height in points.
    pub size: Vec2,
    /// The pane to draw alone; `None` draws the whole window.
    pub picture: Option<Picture>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OutputFormat {
    /// Pixels per point, and per inch in print.
    Png { scale: f32, dpi: Option<f32> },
    /// Vector shapes, with the points as a bitmap; millimetres per point in print.
    Svg { mm_per_point: Option<f32> },
}

impl OutputFormat {
    /// The medium for a layout, by the path's extension.
    pub fn for_path(layout: &Layout, path: &Path) -> Self {
        if is_svg(path) {
            Self::Svg { mm_per_point: layout.mm_per_point }
        } else {
            Self::Png { scale: layout.pixels_per_point, dpi: layout.dpi() }
        }
    }
}

impl OffscreenRender {
    /// Draws and writes the picture, on any thread.
    ///
    /// # Errors
    /// `cannot write: why: path`.
    pub fn save(
        self,
        medium: OutputFormat,
        render_state: &RenderState,
        path: &Path,
    ) -> Result<PathBuf, String> {
        match medium {
            OutputFormat::Png { scale, dpi } => {
                let image = self.image(render_state, scale)?;
                let size = [image.width() as usize, image.height() as usize];
                crate::app::features::export::write_png(
                    path,
                    &egui::ColorImage::from_rgba_unmultiplied(size, image.as_raw()),
                    dpi,
                )
            }
            OutputFormat::Svg { mm_per_point } => {
                let text = self.svg(render_state, mm_per_point)?;
                crate::export::write(path, |to| to.write_all(text.as_bytes()))
                    .map_err(|error| error.to_string())?;
                Ok(path.to_owned())
            }
        }
    }

    fn image(&self, render_state: &RenderState, scale: f32) -> Result<image::RgbaImage, String> {
        check_size(self.size * scale, &render_state.device.limits())?;
        drawn(self.harness(render_state, scale, true))
            .map_err(|error| format!("cannot draw the picture: {error}"))
    }

    fn svg(&self, render_state: &RenderState, mm_per_point: Option<f32>) -> Result<String, String> {
        /// Pixels per point of GPU-drawn parts; lowered if the adapter's limits require it.
        const SCALES: [f32; 4] = [4.0, 2.0, 1.0, 0.5];
        // A window is viewed on a screen.
        let most = if self.picture.is_some() { SCALES[0] } else { SCALES[1] };
        let limits = render_state.device.limits();
        let mut scales = SCALES
            .into_iter()
            .filter(|&scale| scale <= most && check_size(self.size * scale, &limits).is_ok());
        let Some(scale) = scales.next() else {
            return check_size(self.size, &limits).map(|()| String::new());
        };
        // Marks over the points are drawn as shapes, so they must not be in the bitmap too.
        let points = drawn(self.harness(render_state, scale, false))
            .map_err(|error| format!("cannot draw the points: {error}"))?;
        let harness = self.harness(render_state, 1.0, true);
        let ground = Palette::for_look(self.state.look, &harness.ctx.global_style().visuals).canvas;
        let page = svg::Page { size: self.size, ground, mm_per_point };
        Ok(svg::svg(&harness.output().shapes, &page, Some((&points, scale))))
    }

    fn harness(&self, render_state: &RenderState, scale: f32, marks: bool) -> Harness<'static, App> {
        // A separate renderer leaves the window's fonts and uploads alone. A fixed format makes the pixels
        // read back as RGBA, while a screen's may be BGRA.
        let target_format = wgpu::TextureFormat::Rgba8Unorm;
        let renderer = Renderer::new(&render_state.device, target_format, RendererOptions::default());
        let render_state =
            RenderState { renderer: Arc::new(RwLock::new(renderer)), target_format, ..render_state.clone() };
        let mut state = self.state.clone();
        // Pixels per point replace the UI scale.
        state.scale = 1.0;
        let mut session = if marks { self.session.for_render() } else { self.session.for_points_render() };
        session.picture = self.picture.clone().map(Arc::new);
        let builder = Harness::builder()
            .with_size(self.size)
            .with_pixels_per_point(scale)
            .allow_missing_glyphs()
            .renderer(WgpuTestRenderer::from_render_state(render_state));
        let mut harness = builder.build_eframe(move |cc| {
            let mut app = App::bare(cc, state).expect("a thread for the worker");
            app.session = session;
            app
        });
        harness.run_steps(SETTLE_FRAMES);
        // Wait for the colours, which a thread computes and legends need too.
        for _ in 0..MAX_DRAW_FRAMES {
            if !harness.state().is_coloring() {
                break;
            }
            harness.run_steps(1);
            std::thread::sleep(Duration::from_millis(2));
        }
        harness
    }
}

/// Renders until all points are drawn, which takes several frames for a large cloud.
fn drawn(mut harness: Harness<'static, App>) -> Result<image::RgbaImage, String> {
    let mut still = CompleteFrameCounter::default();
    for _ in 0..MAX_DRAW_FRAMES {
        let picture = harness.render()?;
        if still.is_reached() {
            return Ok(picture);
        }
        harness.run_steps(1);
        if !still.after_frame(harness.state()) {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    harness.render()
}

/// Counts consecutive complete frames. The image after the first may still be incomplete.
#[derive(Default)]
pub struct CompleteFrameCounter(u32);

impl CompleteFrameCounter {
    /// Records a frame; returns whether it was complete.
    pub fn after_frame(&mut self, app: &App) -> bool {
        let done = app.is_drawn() && !app.is_coloring();
        self.0 = if done { self.0 + 1 } else { 0 };
        done
    }

    /// Whether the next image is complete.
    pub fn is_reached(&self) -> bool {
        self.0 >= 2
    }
}

/// Refuses an image that exceeds the adapter's limits: wgpu would panic.
fn check_size(pixels: Vec2, limits: &wgpu::Limits) -> Result<(), String> {
    let [width, height] = [pixels.x, pixels.y].map(|side| side.round() as u64);
    let side = u64::from(limits.max_texture_dimension_2d);
    let area = gpu::most_pixels(limits);
    if width.max(height) <= side && width * height <= area {
        return Ok(());
    }
    Err(format!(
        "the picture would have {width} × {height} pixels, but the graphics adapter draws at most {side} \
         per side and {area} in total; choose a smaller size, a smaller window, or SVG"
    ))
}

#[cfg(test)]
mod tests {
    use egui_kittest::wgpu::{create_render_state, default_wgpu_setup};

    use super::*;
    use crate::app::model::{Theme, single_layout};
    use crate::app::testing::folder;

    /// A render state with BGRA pixels, as most screens have.
    fn blue_first() -> RenderState {
        let render_state = create_render_state(default_wgpu_setup(), RendererOptions::default());
        let target_format = wgpu::TextureFormat::Bgra8Unorm;
        let renderer = Renderer::new(&render_state.device, target_format, RendererOptions::default());
        RenderState { renderer: Arc::new(RwLock::new(renderer)), target_format, ..render_state }
    }

    #[test]
    fn pictures_over_the_adapter_limits_are_rejected() {
        let limits = wgpu::Limits {
            max_texture_dimension_2d: 8192,
            max_storage_buffer_binding_size: 128 << 20,
            ..wgpu::Limits::default()
        };
        assert_eq!(check_size(Vec2::new(8192.0, 4096.0), &limits), Ok(()));
        for (size, pixels) in [
            ((8193.0, 64.0), "8193 × 64"),
            ((8192.0, 4097.0), "8192 × 4097"),
            ((6000.0, 6000.0), "6000 × 6000"),
        ] {
            let message = check_size(size.into(), &limits).unwrap_err();
            assert!(
                message.starts_with(&format!(
                    "the picture would have {pixels} pixels, but the graphics adapter draws at most \
                     8192 per side and 33554432 in total"
                )),
                "{message}"
            );
        }
    }

    #[test]
    fn pictures_of_large_clouds_show_every_point() {
        crate::app::context::adapter::check_adapter().expect("a graphics adapter");
        let render_state = create_render_state(default_wgpu_setup(), RendererOptions::default());
        // Enough points to fill the plane and need several frames.
        let cloud = crate::app::testing::cloud(450_000, 2, 1);
        let session = Session { cloud: Some(cloud), ..Session::default() };
        let state = State {
            look: Theme::Light,
            hints: false,
            tree: single_layout(PaneKind::Plane),
            ..State::default()
        };
        let render = OffscreenRender { state, session, size: vec2(500.0, 500.0), picture: None };
        let picture = render.image(&render_state, 1.0).expect("a picture");
        let ground = Palette::LIGHT.canvas.to_array();
        let middle = image::imageops::crop_imm(&picture, 200, 200, 150, 150).to_image();
        let bare = middle.pixels().filter(|pixel| pixel.0[..3] == ground[..3]).count();
        assert!(bare < 22_500 / 10, "{bare} of 22,500 pixels have no point");
    }

    #[test]
    fn png_channel_order_is_correct_on_bgra_surfaces() {
        crate::app::context::adapter::check_adapter().expect("a graphics adapter");
        let folder = folder();
        let render_state = blue_first();
        let mut session = Session::default();
        session.log.error(crate::app::model::log::Subject::Other, "cannot read: it is gone: a.csv");
        let state = State {
            look: Theme::Light,
            hints: false,
            tree: single_layout(PaneKind::Log),
            ..State::default()
        };
        let [r, g, b, _] = Palette::LIGHT.error.to_array();
        assert_ne!(r, b, "otherwise the test proves nothing");
        for (scale, name) in [(1.0, "a.png"), (2.0, "b.png")] {
            let render = OffscreenRender {
                state: state.clone(),
                session: session.clone(),
                size: vec2(900.0, 500.0),
                picture: None,
            };
            let path = render
                .save(OutputFormat::Png { scale, dpi: None }, &render_state, &folder.path().join(name))
                .expect("a picture");
            let picture = image::open(path).expect("a PNG").into_rgb8();
            let of = |color: [u8; 3]| picture.pixels().filter(|pixel| pixel.0 == color).count();
            assert!(
                of([r, g, b]) > 20 && of([b, g, r]) == 0,
                "{name}: {} as it should be, {} exchanged",
                of([r, g, b]),
                of([b, g, r])
            );
        }
    }
}
