//! Paints drawings with egui.

use egui::epaint::{CornerRadius, Mesh};
use egui::{Color32, FontId, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2};

use crate::draw::{self, Area, Drawing, Font, Paint, StrokeStyle};
use crate::lesson::picture::Scene;
use crate::lesson::picture::motion::{MovingScene, SECONDS};
use crate::palette::{Palette, Rgb};

/// Above this number, dots of one kind are drawn as squares: at that size the difference is invisible.
const MAX_ROUND_DOTS: usize = 4_000;

/// Placement of a scene on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Top left corner.
    pub origin: Pos2,
    /// Screen points per scene unit.
    pub scale: f32,
}

impl Placement {
    /// From scene to screen coordinates.
    pub fn pos(self, [x, y]: draw::Point) -> Pos2 {
        self.origin + vec2(x, y) * self.scale
    }

    /// From scene to screen coordinates.
    pub fn rect(self, area: Area) -> Rect {
        Rect::from_min_size(self.pos([area.x, area.y]), vec2(area.width, area.height) * self.scale)
    }

    /// From screen to scene coordinates.
    pub fn place(self, at: Pos2) -> draw::Point {
        let at = (at - self.origin) / self.scale;
        [at.x, at.y]
    }
}

/// A scene converted to shapes, once instead of in each frame.
pub struct PreparedScene(Vec<Item>);

enum Item {
    Shape(Shape),
    /// Laid out in each frame, because the font atlas may change.
    Text {
        at: Pos2,
        anchor: [f32; 2],
        font: FontId,
        color: Color32,
        text: String,
    },
    Clip(Option<Rect>),
}

impl PreparedScene {
    pub fn new(scene: &Drawing, palette: &Palette, place: Placement) -> Self {
        let look = ShapeConverter { palette, place };
        let mut items = Vec::new();
        for shape in &scene.shapes {
            look.add(shape, &mut items);
        }
        Self(items)
    }

    pub fn paint(&self, painter: &Painter) {
        let whole = painter.clip_rect();
        let mut clipped = painter.clone();
        for item in &self.0 {
            match item {
                Item::Shape(shape) => {
                    clipped.add(shape.clone());
                }
                Item::Text { at, anchor, font, color, text } => {
                    let galley = clipped.layout_no_wrap(text.clone(), font.clone(), *color);
                    let size = galley.size();
                    clipped.galley(*at - vec2(size.x * anchor[0], size.y * anchor[1]), galley, *color);
                }
                Item::Clip(rect) => clipped.set_clip_rect(rect.map_or(whole, |rect| whole.intersect(rect))),
            }
        }
    }
}

struct ShapeConverter<'a> {
    palette: &'a Palette,
    place: Placement,
}

impl ShapeConverter<'_> {
    fn add(&self, shape: &draw::Shape, items: &mut Vec<Item>) {
        let Placement { scale, .. } = self.place;
        match shape {
            draw::Shape::Rect { area, round, fill, line } => {
                let rect = self.place.rect(*area);
                let radius = CornerRadius::same((round * scale).round().clamp(0.0, 255.0) as u8);
                if let Some(fill) = fill {
                    items.push(Item::Shape(Shape::rect_filled(rect, radius, self.color(*fill))));
                }
                if let Some(line) = line {
                    match line.dash {
                        None => items.push(Item::Shape(Shape::rect_stroke(
                            rect,
                            radius,
                            self.stroke(line),
                            StrokeKind::Middle,
                        ))),
                        Some(_) => {
                            let corners = [
                                rect.left_top(),
                                rect.right_top(),
                                rect.right_bottom(),
                                rect.left_bottom(),
                                rect.left_top(),
                            ];
                            self.path(&corners, line, items);
                        }
                    }
                }
            }
            draw::Shape::Dots { centers, radius, fill, line } => {
                self.dots(centers, radius * scale, *fill, line.as_ref(), items)
            }
            draw::Shape::Path { points, line } => {
                let points: Vec<Pos2> = points.iter().map(|&point| self.place.pos(point)).collect();
                self.path(&points, line, items);
            }
            draw::Shape::Polygon { corners, fill } => {
                let points = corners.iter().map(|&place| self.place.pos(place)).collect();
                items.push(Item::Shape(Shape::convex_polygon(points, self.color(*fill), Stroke::NONE)));
            }
            draw::Shape::Text { at, anchor, size, font, paint, text } => {
                let size = (size * scale).max(1.0);
                let font = match font {
                    Font::Sans => FontId::proportional(size),
                    Font::Mono => FontId::monospace(size),
                };
                items.push(Item::Text {
                    at: self.place.pos(*at),
                    anchor: *anchor,
                    font,
                    color: self.color(*paint),
                    text: text.clone(),
                });
            }
            draw::Shape::Clip(area) => items.push(Item::Clip(area.map(|area| self.place.rect(area)))),
        }
    }

    fn dots(
        &self,
        centers: &[draw::Point],
        radius: f32,
        fill: Option<Paint>,
        line: Option<&StrokeStyle>,
        items: &mut Vec<Item>,
    ) {
        let fill = fill.map_or(Color32::TRANSPARENT, |fill| self.color(fill));
        let stroke = line.map_or(Stroke::NONE, |line| self.stroke(line));
        if centers.len() > MAX_ROUND_DOTS && line.is_none() {
            let mut mesh = Mesh::default();
            mesh.reserve_vertices(centers.len() * 4);
            mesh.reserve_triangles(centers.len() * 2);
            // The same area as the circles.
            let side = egui::Vec2::splat(radius * std::f32::consts::PI.sqrt());
            for &center in centers {
                mesh.add_colored_rect(Rect::from_center_size(self.place.pos(center), side), fill);
            }
            return items.push(Item::Shape(Shape::mesh(mesh)));
        }
        let circle = |&center: &draw::Point| {
            Shape::Circle(egui::epaint::CircleShape { center: self.place.pos(center), radius, fill, stroke })
        };
        match centers {
            [one] => items.push(Item::Shape(circle(one))),
            many => items.push(Item::Shape(Shape::Vec(many.iter().map(circle).collect()))),
        }
    }

    fn path(&self, points: &[Pos2], line: &StrokeStyle, items: &mut Vec<Item>) {
        let stroke = self.stroke(line);
        match line.dash {
            None => items.push(Item::Shape(Shape::line(points.to_vec(), stroke))),
            Some(dash) => {
                // Shorter dashes would be invisible and very many.
                let dash = (dash * self.place.scale).max(1.0);
                items.push(Item::Shape(Shape::Vec(Shape::dashed_line(points, stroke, dash, dash))));
            }
        }
    }

    fn stroke(&self, line: &StrokeStyle) -> Stroke {
        Stroke::new(line.width * self.place.scale, self.color(line.paint))
    }

    fn color(&self, paint: Paint) -> Color32 {
        let Rgb(red, green, blue) = paint.ink.color(self.palette);
        Color32::from_rgb(red, green, blue).gamma_multiply(paint.opacity.clamp(0.0, 1.0))
    }
}

/// The placement that fits a scene of `size` centred into a rectangle.
pub fn fit(size: [f32; 2], rect: Rect) -> Placement {
    let scale = (rect.width() / size[0].max(1.0)).min(rect.height() / size[1].max(1.0));
    let used = vec2(size[0], size[1]) * scale;
    let origin = rect.min + (rect.size() - used) / 2.0;
    Placement { origin: pos2(origin.x.round(), origin.y.round()), scale }
}

// Animation of the parts that a step moved, over a still picture.

/// Shorter animations, in seconds, would only flicker and are skipped.
const MIN_SECONDS: f64 = 0.1;

/// Maximum share of the time between two steps that an animation takes during playback.
const MAX_SHARE: f64 = 0.6;

/// Duration of an animation in seconds; `None` for none. `pace` is steps per second during playback.
pub fn motion_seconds(reduced: bool, pace: Option<f32>) -> Option<f64> {
    let most = pace.map_or(f64::INFINITY, |pace| MAX_SHARE / f64::from(pace));
    let seconds = f64::from(SECONDS).min(most);
    (!reduced && seconds >= MIN_SECONDS).then_some(seconds)
}

/// A running animation.
pub struct Animation {
    before: Scene,
    moving: MovingScene,
    still: PreparedScene,
    /// In seconds of egui's clock.
    began: f64,
    seconds: f64,
}

impl Animation {
    /// An animation between two scenes; `None` if nothing moves.
    pub fn new(
        before: Scene,
        after: &Scene,
        palette: &Palette,
        place: Placement,
        began: f64,
        seconds: f64,
    ) -> Option<Self> {
        let moving = MovingScene::between(&before, after)?;
        let still = PreparedScene::new(moving.still(), palette, place);
        Some(Self { before, moving, still, began, seconds })
    }

    /// The same animation towards a redrawn scene.
    pub fn anew(self, after: &Scene, palette: &Palette, place: Placement) -> Option<Self> {
        Self::new(self.before, after, palette, place, self.began, self.seconds)
    }

    pub fn is_over(&self, now: f64) -> bool {
        now - self.began >= self.seconds
    }

    pub fn paint(&self, painter: &Painter, palette: &Palette, place: Placement, now: f64) {
        self.still.paint(painter);
        let parts = self.moving.parts(((now - self.began) / self.seconds) as f32);
        PreparedScene::new(&parts, palette, place).paint(painter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Ink;
    use crate::palette::{LIGHT, VIRIDIS};

    #[test]
    fn screen_and_scene_positions_round_trip() {
        let place = fit([200.0, 100.0], Rect::from_min_size(pos2(10.0, 20.0), vec2(800.0, 300.0)));
        assert_eq!(place.scale, 3.0);
        assert_eq!(place.origin, pos2(110.0, 20.0), "in the middle");
        let [x, y] = place.place(place.pos([12.5, 70.0]));
        assert!((x - 12.5).abs() < 1e-3 && (y - 70.0).abs() < 1e-3);
    }

    #[test]
    fn shapes_keep_their_order_and_colours() {
        let mut scene = Drawing::new(10.0, 10.0);
        let area = Area { x: 1.0, y: 1.0, width: 4.0, height: 2.0 };
        let line = StrokeStyle { paint: Ink::Text.into(), width: 1.0, dash: Some(2.0) };
        scene.shapes.push(draw::Shape::Rect {
            area,
            round: 1.0,
            fill: Some(Ink::Scale(1.0).into()),
            line: Some(line),
        });
        scene.shapes.push(draw::Shape::Dots {
            centers: vec![[1.0, 1.0]; 30_000],
            radius: 1.0,
            fill: Some(Ink::Query.into()),
            line: None,
        });
        scene.shapes.push(draw::Shape::Clip(Some(area)));
        let items = PreparedScene::new(&scene, &LIGHT, Placement { origin: pos2(100.0, 0.0), scale: 2.0 }).0;
        let [
            Item::Shape(Shape::Rect(rect)),
            Item::Shape(Shape::Vec(dashes)),
            Item::Shape(Shape::Mesh(mesh)),
            Item::Clip(Some(clip)),
        ] = items.as_slice()
        else {
            panic!("{} unexpected items", items.len())
        };
        let Rgb(red, green, blue) = VIRIDIS[32];
        assert_eq!((rect.fill, rect.rect.min), (Color32::from_rgb(red, green, blue), pos2(102.0, 2.0)));
        assert!(dashes.len() >= 2);
        assert_eq!(mesh.vertices.len(), 120_000);
        assert_eq!(*clip, rect.rect);
    }

    #[test]
    fn animations_shorten_or_stop_at_high_speed() {
        assert_eq!(motion_seconds(false, None), Some(0.25));
        assert_eq!(motion_seconds(false, Some(2.0)), Some(0.25));
        let fast = motion_seconds(false, Some(4.0)).expect("an animation");
        assert!((fast - 0.15).abs() < 1e-6, "{fast}");
        assert_eq!((motion_seconds(false, Some(8.0)), motion_seconds(false, Some(32.0))), (None, None));
        assert_eq!((motion_seconds(true, None), motion_seconds(true, Some(0.25))), (None, None));
    }
}
