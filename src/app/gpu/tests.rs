//! Small known scenes, checked pixel by pixel with both methods.

use std::sync::Arc;

use eframe::egui_wgpu::wgpu;
use egui::{Color32, Pos2, Rect, pos2, vec2};

use super::frames::OffscreenDevice;
use super::store::{Points, Rows, Store};
use super::{Drawing, FramePacer, Layer, LayerColors, Method, Renderer};
use crate::app::features::color::state::{ColorMap, Scale};
use crate::app::look::Palette;
use crate::app::model::camera::place;
use crate::app::model::{PlaneCamera, Projection, SpaceCamera, SpaceView};
use crate::app::testing::cloud;

const SIZE: [u32; 2] = [64, 48];
const BOTH: [Method; 2] = [Method::Splat, Method::Quads];

struct RenderFixture {
    offscreen: OffscreenDevice,
    store: Store,
    renderer: Renderer,
    pace: Arc<FramePacer>,
}

fn studio(method: Method) -> RenderFixture {
    let offscreen = OffscreenDevice::open(true)
        .expect("a graphics adapter: install mesa-vulkan-drivers, which needs no GPU");
    let (device, queue) = (&offscreen.device, &offscreen.queue);
    assert_eq!(Method::best(device, &offscreen.adapter), Method::Splat, "lavapipe has compute shaders");
    let pace = Arc::new(FramePacer::new(1_000_000, || {}));
    let renderer = Renderer::new(device, queue, method, wgpu::TextureFormat::Rgba8Unorm, Arc::clone(&pace));
    let store = Store::new(device.clone(), queue.clone(), || {});
    RenderFixture { offscreen, store, renderer, pace }
}

impl RenderFixture {
    fn frame(&mut self, drawing: &Drawing) -> Picture {
        let mut encoder = self.offscreen.encoder();
        self.renderer.draw(&self.offscreen.device, &self.offscreen.queue, &mut encoder, drawing);
        self.offscreen.run(encoder).expect("a frame");
        let pixels = self.offscreen.pixels(self.renderer.texture(drawing.view)).expect("pixels");
        Picture { width: drawing.size[0], pixels }
    }

    /// Draws until the picture is complete, and returns it.
    fn whole(&mut self, drawing: &Drawing) -> Picture {
        for _ in 0..100 {
            let picture = self.frame(drawing);
            if self.pace.progress(drawing.view).is_some_and(super::Progress::is_complete) {
                return picture;
            }
        }
        panic!("the picture is never complete: {:?}", self.pace.progress(drawing.view));
    }

    fn points(&self, places: &[[f32; 3]]) -> Arc<Points> {
        let places = places.to_vec();
        Arc::new(self.store.points(&Rows::All(places.len() as u32), 3, move |row| places[row as usize]))
    }

    fn ink(&self, values: &[f32], scale: Scale) -> LayerColors {
        let values = values.to_vec();
        LayerColors::Scaled(
            self.store.values(&Rows::All(values.len() as u32), move |row| values[row as usize]),
            scale,
            MISSING,
        )
    }
}

struct Picture {
    width: u32,
    pixels: Vec<[u8; 4]>,
}

impl Picture {
    fn at(&self, x: u32, y: u32) -> Color32 {
        let [r, g, b, a] = self.pixels[(y * self.width + x) as usize];
        Color32::from_rgba_premultiplied(r, g, b, a)
    }

    /// Number of pixels that differ from another picture.
    fn differing_pixels(&self, other: &Self) -> usize {
        self.pixels.iter().zip(&other.pixels).filter(|(one, other)| one != other).count()
    }

    /// Pixels that are not background, with their colours.
    fn inked(&self) -> Vec<([u32; 2], Color32)> {
        let pixels = (0..self.pixels.len() as u32).map(|at| [at % self.width, at / self.width]);
        pixels
            .map(|pixel| (pixel, self.at(pixel[0], pixel[1])))
            .filter(|(_, color)| *color != Color32::TRANSPARENT)
            .collect()
    }
}

const RED: Color32 = Color32::from_rgb(200, 0, 0);
const BLUE: Color32 = Color32::from_rgb(0, 0, 200);
const MISSING: Color32 = Color32::from_rgb(120, 120, 120);
const LINEAR: Scale = Scale { map: ColorMap::Viridis, low: 0.0, high: 1.0, log: false, dark: true };

/// Viridis at even steps, from 0 to 15.
fn viridis(step: u32) -> Color32 {
    ColorMap::Viridis.color(step as f32 / 15.0, &Palette::DARK)
}

/// A projection in pixel coordinates: x to the right, y down; z away from the eye.
fn by_pixel() -> Projection {
    let [width, height] = SIZE.map(|side| side as f32);
    // A perspective with w = z, so that nearness is as in Space.
    let (x, y) = (2.0 / width, 2.0 / height);
    Projection {
        center: [0.0; 3],
        matrix: [[x, 0.0, 0.0, 0.0], [0.0, -y, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]],
    }
}

/// A point seen at a pixel's centre, at a distance from the eye.
fn at(x: u32, y: u32, z: f32) -> [f32; 3] {
    [(x as f32 + 0.5 - SIZE[0] as f32 / 2.0) * z, (y as f32 + 0.5 - SIZE[1] as f32 / 2.0) * z, z]
}

fn layer(points: Arc<Points>, ink: LayerColors, diameter: f32) -> Layer {
    Layer { points, projection: by_pixel(), diameter, ink, opacity: 1.0 }
}

fn space(layers: Vec<Layer>) -> Drawing {
    Drawing { view: 1, size: SIZE, dense: None, eye_dome: false, layers, moving: false, visible: 1.0 }
}

fn is_close(one: Color32, other: Color32, by: u8) -> bool {
    one.to_array().iter().zip(other.to_array()).all(|(one, other)| one.abs_diff(other) <= by)
}

#[test]
fn points_are_drawn_at_their_pixels() {
    for method in BOTH {
        let mut studio = studio(method);
        let red = layer(studio.points(&[at(10, 20, 2.0)]), LayerColors::Flat(RED), 1.0);
        let blue = layer(studio.points(&[at(40, 7, 5.0)]), LayerColors::Flat(BLUE), 1.0);
        let picture = studio.frame(&space(vec![red, blue]));
        assert_eq!(picture.inked(), [([40, 7], BLUE), ([10, 20], RED)], "{method:?}");
    }
}

#[test]
fn the_nearest_point_wins_in_any_order() {
    for method in BOTH {
        let mut studio = studio(method);
        let mut places = vec![at(30, 30, 3.0); 40];
        places[17] = at(30, 30, 2.9999);
        let mut values = vec![0.0; 40];
        values[17] = 1.0;
        let ink = studio.ink(&values, LINEAR);
        let picture = studio.frame(&space(vec![layer(studio.points(&places), ink, 1.0)]));
        let [(pixel, color)] = picture.inked()[..] else { panic!("{method:?}: one pixel") };
        assert_eq!(pixel, [30, 30]);
        assert!(is_close(color, viridis(15), 1), "{method:?}: {color:?}");
    }
}

#[test]
fn values_map_to_colours() {
    for method in BOTH {
        let mut studio = studio(method);
        let places: Vec<[f32; 3]> = (0..6).map(|x| at(10 * x + 2, 5, 1.0)).collect();
        let colors = |studio: &mut RenderFixture, values: &[f32], scale: Scale| -> Vec<Color32> {
            let ink = studio.ink(values, scale);
            let picture = studio.frame(&space(vec![layer(studio.points(&places), ink, 1.0)]));
            (0..6).map(|x| picture.at(10 * x + 2, 5)).collect()
        };
        let linear = colors(&mut studio, &[0.0, 1.0, 0.2, f32::NAN, -3.0, f32::INFINITY], LINEAR);
        let expected = [viridis(0), viridis(15), viridis(3), MISSING, viridis(0), viridis(15)];
        assert!(
            linear.iter().zip(expected).all(|(one, other)| is_close(*one, other, 1)),
            "{method:?}: {linear:?}"
        );

        let log = Scale { low: 1.0, high: 32768.0, log: true, ..LINEAR };
        let logged = colors(&mut studio, &[1.0, 32768.0, 8.0, -1.0, 0.0, 4096.0], log);
        let expected = [viridis(0), viridis(15), viridis(3), viridis(0), viridis(0), viridis(12)];
        assert!(
            logged.iter().zip(expected).all(|(one, other)| is_close(*one, other, 1)),
            "{method:?}: {logged:?}"
        );

        let packed = [0xff_ffff, 0x00_0001, 0x12_3456, 0x80_0000, 0x00_ff00].map(|packed| packed as f32);
        let own = colors(
            &mut studio,
            &[packed[0], packed[1], packed[2], f32::NAN, packed[3], packed[4]],
            Scale { map: ColorMap::Own, ..LINEAR },
        );
        let expected = [(255, 255, 255), (0, 0, 1), (0x12, 0x34, 0x56), (9, 9, 9), (0x80, 0, 0), (0, 255, 0)];
        let expected = expected.map(|color| {
            if color == (9, 9, 9) { MISSING } else { Color32::from_rgb(color.0, color.1, color.2) }
        });
        assert!(own.iter().zip(expected).all(|(one, other)| is_close(*one, other, 1)), "{method:?}: {own:?}");

        let none = colors(&mut studio, &[7.0; 6], Scale { low: 7.0, high: 7.0, ..LINEAR });
        assert!(none.iter().all(|color| is_close(*color, viridis(0), 1)), "{method:?}: {none:?}");
    }
}

#[test]
fn point_sizes_are_in_pixels_and_large_points_are_discs() {
    for method in BOTH {
        let mut studio = studio(method);
        for (diameter, expected) in [(1.0, 1), (2.0, 4), (2.9, 9), (3.0, 9), (5.0, 21), (9.0, 69)] {
            // Slightly off a pixel's centre, so that no centre is on the point's edge.
            let mut place = at(30, 20, 1.0);
            if diameter == 2.0 {
                (place[0], place[1]) = (place[0] + 0.5, place[1] + 0.5);
            } else {
                (place[0], place[1]) = (place[0] + 0.01, place[1] + 0.02);
            }
            let picture =
                studio.frame(&space(vec![layer(studio.points(&[place]), LayerColors::Flat(RED), diameter)]));
            assert_eq!(picture.inked().len(), expected, "{method:?}, a diameter of {diameter}");
        }
    }
}

#[test]
fn later_layers_cover_earlier_layers_and_opacity_blends() {
    for method in BOTH {
        let mut studio = studio(method);
        let mut near = layer(studio.points(&[at(20, 20, 0.5), at(50, 40, 0.5)]), LayerColors::Flat(RED), 3.0);
        near.opacity = 0.5;
        let outline = layer(studio.points(&[at(20, 20, 4.0)]), LayerColors::Flat(Color32::WHITE), 7.0);
        let selected = layer(studio.points(&[at(20, 20, 4.0)]), LayerColors::Flat(BLUE), 3.0);
        let picture = studio.frame(&space(vec![near, outline, selected]));
        assert_eq!((picture.at(20, 20), picture.at(17, 20)), (BLUE, Color32::WHITE), "{method:?}");
        assert!(
            is_close(picture.at(50, 40), Color32::from_rgba_premultiplied(100, 0, 0, 128), 1),
            "{method:?}: {:?}",
            picture.at(50, 40)
        );
    }
}

/// Frames with other parameters each. lavapipe compiles and keeps a shader for each value of a uniform in a
/// condition.
#[cfg(target_os = "linux")]
#[test]
fn frames_do_not_accumulate_memory() {
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").expect("the process's status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("resident memory");
        line.trim().trim_end_matches("kB").trim().parse::<u64>().expect("a number") >> 10
    };
    let mut studio = studio(Method::Splat);
    let points = studio.points(&[at(20, 20, 1.0), at(30, 30, 2.0)]);
    let mut before = 0;
    for frame in 0..150 {
        let layers = (0..3).map(|rank| {
            layer(Arc::clone(&points), LayerColors::Flat(RED), 1.0 + (3 * frame + rank) as f32 * 0.1)
        });
        let _ = studio.frame(&space(layers.collect()));
        if frame == 10 {
            before = resident();
        }
    }
    // Generous, because tests that run in the same process use memory too.
    let more = resident().saturating_sub(before);
    assert!(more < 80, "139 frames added {more} MiB");
}

#[test]
fn points_outside_the_view_are_not_drawn() {
    for method in BOTH {
        let mut studio = studio(method);
        let places =
            [at(20, 20, -1.0), at(64, 20, 1.0), at(20, 48, 1.0), [f32::MAX, 0.0, 1.0], [0.0, 0.0, 0.0]];
        let picture = studio.frame(&space(vec![layer(studio.points(&places), LayerColors::Flat(RED), 1.0)]));
        assert!(picture.inked().is_empty(), "{method:?}: {:?}", picture.inked());
        // At the picture's edge, only the inner part is drawn.
        let picture =
            studio.frame(&space(vec![layer(studio.points(&[at(0, 47, 1.0)]), LayerColors::Flat(RED), 2.99)]));
        assert_eq!(picture.inked().len(), 4, "{method:?}");
    }
}

/// A cloud in Space, at 1.5 pixels per screen point.
fn orbit(studio: &RenderFixture, n: usize, axes: [usize; 3]) -> (Drawing, SpaceCamera, Rect) {
    let cloud = cloud(n, 3, 5);
    let rect = Rect::from_min_size(pos2(12.0, 30.0), vec2(400.0, 300.0));
    let view = SpaceView { axes, ..SpaceView::default() };
    let camera = SpaceCamera::new(rect, &view, &cloud);
    let from = Arc::clone(&cloud);
    let points = Arc::new(studio.store.points(&Rows::All(n as u32), 3, move |row| {
        let point = from.point(row as usize);
        [point[0], point[1], point[2]]
    }));
    let projection = points.project(camera.projection(), &axes);
    let values = (0..n).map(|row| row as f32 / n as f32).collect::<Vec<f32>>();
    let layer = Layer { points, projection, diameter: 3.0, ink: studio.ink(&values, LINEAR), opacity: 1.0 };
    (Drawing { view: 2, size: [600, 450], ..space(vec![layer]) }, camera, rect)
}

#[test]
fn drawn_pixels_match_pointer_positions() {
    for method in BOTH {
        let mut studio = studio(method);
        for axes in [[0, 1, 2], [2, 0, 1], [1, 1, 0]] {
            let (mut drawing, camera, rect) = orbit(&studio, 60, axes);
            drawing.layers[0].diameter = 1.0;
            let picture = studio.frame(&drawing);
            let cloud = cloud(60, 3, 5);
            let (mut seen, mut hidden) = (0, 0);
            for row in 0..60 {
                let (screen, _): (Pos2, f64) =
                    camera.screen(place(&cloud, row, axes)).expect("in front of the eye");
                if !rect.shrink(1.0).contains(screen) {
                    continue;
                }
                seen += 1;
                let pixel = ((screen - rect.min) * 1.5).to_pos2();
                // A point on the edge of two pixels may be drawn in either.
                let near = |offset: f32| [(pixel.x + offset) as u32, (pixel.y + offset) as u32];
                let found = [near(-0.01), near(0.01)]
                    .iter()
                    .any(|[x, y]| is_close(picture.at(*x, *y), colour(row, 60), 2));
                hidden += u32::from(!found);
            }
            assert!(
                seen > 40 && hidden <= 1,
                "{method:?}, {axes:?}: {hidden} of {seen} points are elsewhere"
            );
        }
    }
}

/// The colour of a row of [`orbit`].
fn colour(row: usize, n: usize) -> Color32 {
    ColorMap::Viridis.color(row as f32 / n as f32, &Palette::DARK)
}

#[test]
fn splats_and_quads_draw_the_same_picture() {
    let [splats, quads] = BOTH.map(|method| {
        let mut studio = studio(method);
        let (drawing, ..) = orbit(&studio, 20_000, [0, 1, 2]);
        studio.whole(&drawing)
    });
    assert!(splats.inked().len() > 50_000, "{} pixels", splats.inked().len());
    let differ = splats.differing_pixels(&quads);
    assert!(differ * 200 < splats.pixels.len(), "{differ} of {} pixels differ", splats.pixels.len());
}

#[test]
fn progressive_drawing_gives_the_same_picture() {
    for method in BOTH {
        let mut studio = studio(method);
        let (mut drawing, ..) = orbit(&studio, 60_000, [0, 1, 2]);
        let whole = studio.whole(&drawing);
        drawing.view = 3;
        studio.pace = Arc::new(FramePacer::new(25_000, || {}));
        let (device, queue) = (&studio.offscreen.device, &studio.offscreen.queue);
        studio.renderer =
            Renderer::new(device, queue, method, wgpu::TextureFormat::Rgba8Unorm, Arc::clone(&studio.pace));
        drawing.moving = true;
        let first = studio.frame(&drawing);
        let drawn = studio.pace.progress(3).expect("drawn");
        assert_eq!((drawn.drawn, drawn.total, drawn.is_complete()), (25_000, 60_000, false));
        assert!(first.differing_pixels(&whole) > 1_000);
        studio.frame(&drawing);
        assert!(!studio.pace.progress(3).expect("drawn").is_complete(), "moving pictures are not extended");
        drawing.moving = false;
        let last = studio.whole(&drawing);
        assert_eq!(last.differing_pixels(&whole), 0, "{method:?}");
    }
}

#[test]
fn segment_size_does_not_change_the_picture() {
    for method in BOTH {
        let mut studio = studio(method);
        let (drawing, ..) = orbit(&studio, 30_000, [0, 1, 2]);
        let whole = studio.whole(&drawing);
        studio.store.in_segments_of(7_001);
        let (mut parts, ..) = orbit(&studio, 30_000, [0, 1, 2]);
        assert_eq!(parts.layers[0].points.buffers().segments().len(), 5);
        parts.view = 9;
        assert_eq!(studio.whole(&parts).differing_pixels(&whole), 0, "{method:?}");
    }
}

#[test]
fn recolouring_does_not_redraw_the_points() {
    let mut studio = studio(Method::Splat);
    let (mut drawing, ..) = orbit(&studio, 5_000, [0, 1, 2]);
    let one = studio.frame(&drawing);
    let (geometry, places) = (drawing.geometry(), drawing.layers[0].points.buffers().id());
    drawing.layers[0].ink = LayerColors::Flat(RED);
    assert!(geometry == drawing.geometry());
    assert_eq!(places, drawing.layers[0].points.buffers().id());
    let target = studio.renderer.targets.get_mut(&2).expect("a picture");
    let plan = target.plan(&drawing, 1_000_000, false).expect("a change");
    assert!(!plan.fresh && plan.batches.is_empty());
    assert!(target.plan(&drawing, 1_000_000, false).is_none(), "unchanged pictures are not redrawn");
    drawing.view = 4;
    let other = studio.frame(&drawing);
    assert_eq!(one.inked().len(), other.inked().len());
    assert!(other.inked().iter().all(|(_, color)| *color == RED));
}

#[test]
fn eye_dome_lighting_darkens_the_farther_side_of_a_step() {
    let mut studio = studio(Method::Splat);
    // A wall, and to the right a nearer one, both facing the eye; nothing in the lower half.
    let places: Vec<[f32; 3]> = (0..SIZE[0])
        .flat_map(|x| (0..SIZE[1] / 2).map(move |y| at(x, y, if x < 32 { 10.0 } else { 1.0 })))
        .collect();
    let mut drawing = space(vec![layer(studio.points(&places), LayerColors::Flat(RED), 1.0)]);
    drawing.eye_dome = true;
    let lit = studio.frame(&drawing);
    assert_eq!([0, 10, 29].map(|x| lit.at(x, 12)), [RED; 3], "a plane that faces the eye keeps its colour");
    assert_eq!([32, 40, 63].map(|x| lit.at(x, 12)), [RED; 3], "the nearer side keeps its colour");
    assert_eq!(lit.at(10, 23), RED, "empty pixels do not darken");
    let edge = lit.at(31, 12);
    assert!(edge.r() < 130 && edge.r() >= 80 && edge.a() == 255, "dark, but never black: {edge:?}");

    // A marked point covers others regardless of depth, so it casts no shade.
    let mark = layer(studio.points(&[at(10, 12, 1.0)]), LayerColors::Flat(BLUE), 1.0);
    drawing.layers.push(mark);
    let marked = studio.frame(&drawing);
    assert_eq!([marked.at(10, 12), marked.at(11, 12)], [BLUE, RED]);

    drawing.layers.truncate(1);
    drawing.eye_dome = false;
    let points = studio.pace.progress(1).expect("drawn").drawn;
    assert!(studio.frame(&drawing).inked().iter().all(|(_, color)| *color == RED));
    assert_eq!(studio.pace.progress(1).expect("drawn").drawn, points);
}

#[test]
fn dense_pixels_darken_and_single_points_stay_visible() {
    let dense = Color32::from_rgb(0, 0, 0);
    let light = Color32::from_rgb(160, 160, 160);
    let mut studio = studio(Method::Splat);
    // 1, 10, 100 and 1,000 points at four positions.
    let places: Vec<[f32; 3]> =
        (0..4).flat_map(|power| vec![at(10 * power + 5, 9, 1.0); 10usize.pow(power)]).collect();
    let mut drawing = space(vec![layer(studio.points(&places), LayerColors::Flat(light), 1.0)]);
    drawing.dense = Some(dense);
    let picture = studio.frame(&drawing);
    // On a white background.
    let shade = |x: u32| {
        let color = picture.at(x, 9);
        f32::from(color.r()) + 255.0 - f32::from(color.a())
    };
    let shades: Vec<f32> = (0..4).map(|power| shade(10 * power + 5)).collect();
    assert!(
        shades.windows(2).all(|pair| pair[0] > pair[1] + 30.0),
        "each factor of ten is visible: {shades:?}"
    );
    assert!(shades[0] < 220.0, "a single point is seen on white: {shades:?}");
    assert!(shades[3] < 5.0, "most points are full ink: {shades:?}");

    let picture = studio.frame(&Drawing {
        view: 5,
        ..space(vec![layer(studio.points(&[at(5, 9, 1.0)]), LayerColors::Flat(light), 1.0)])
    });
    assert_eq!(picture.at(5, 9), light, "a single point keeps its colour");
}

#[test]
fn plane_points_match_the_camera() {
    let cloud = cloud(40, 2, 9);
    let rect = Rect::from_min_size(pos2(7.0, 3.0), vec2(300.0, 200.0));
    for method in BOTH {
        let mut studio = studio(method);
        for axes in [[0, 1], [1, 0], [1, 1], [0, 2]] {
            let camera = PlaneCamera::new(rect, None, &cloud, axes);
            let from = Arc::clone(&cloud);
            let points = Arc::new(studio.store.points(&Rows::All(40), 2, move |row| {
                [from.point(row as usize)[0], from.point(row as usize)[1], 0.0]
            }));
            let projection = points.project(camera.projection(), &axes);
            let layer =
                Layer { points, projection, diameter: 3.0, ink: LayerColors::Flat(RED), opacity: 1.0 };
            let drawing = Drawing { view: 6, size: [600, 400], dense: Some(BLUE), ..space(vec![layer]) };
            let picture = studio.frame(&drawing);
            for row in 0..40 {
                let pixel = ((camera.screen(place(&cloud, row, axes)) - rect.min) * 2.0).to_pos2();
                assert!(
                    picture.at(pixel.x as u32, pixel.y as u32).a() > 100,
                    "{method:?}, {axes:?}: nothing at {pixel:?}"
                );
            }
            assert!(picture.inked().len() <= 40 * 9);
        }
    }
}

/// Segments stay within the minimum limits that wgpu guarantees.
#[test]
fn segments_respect_the_binding_and_dispatch_limits() {
    let studio = studio(Method::Splat);
    let buffers = studio.store.values(&Rows::All(20_000_000), |_| 0.0);
    let limits = wgpu::Limits::default();
    assert_eq!(buffers.segments().iter().map(|segment| segment.count).sum::<u32>(), 20_000_000);
    for segment in buffers.segments() {
        assert!(segment.count.div_ceil(super::store::GROUP) <= limits.max_compute_workgroups_per_dimension);
        assert!(u64::from(segment.count) * 12 <= limits.max_storage_buffer_binding_size);
    }
    // If the program ended while a thread fills buffers, the driver would be unloaded under it.
    drop(studio);
    assert_eq!(Arc::strong_count(&buffers), 1, "no thread fills them");
}

#[test]
fn large_clouds_are_uploaded_in_the_background() {
    let studio = studio(Method::Splat);
    let n = 700_000;
    let buffers = studio.store.values(&Rows::All(n), |row| row as f32);
    let started = std::time::Instant::now();
    while !buffers.is_complete() {
        assert!(started.elapsed().as_secs() < 60, "{} of {n} have arrived", buffers.uploaded());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!((buffers.uploaded(), buffers.resident(), buffers.rows()), (n, n, n));
}
