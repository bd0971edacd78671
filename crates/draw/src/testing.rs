//! Helpers for tests: a drawing with all shapes, and a comparison with another renderer.

use std::sync::Arc;

use epaint_default_fonts::{HACK_REGULAR, UBUNTU_LIGHT};
use image::RgbaImage;
use resvg::{tiny_skia, usvg};

use crate::drawing::{Area, Drawing, Font, Ink, Paint, Shape, StrokeStyle};

/// Every kind of shape.
pub fn all_shapes() -> Drawing {
    let mut drawing = Drawing::new(200.0, 120.0);
    let area = |x, y, width, height| Area { x, y, width, height };
    let line = |ink: Ink, dash| StrokeStyle { paint: ink.into(), width: 2.0, dash };
    let text = |at, anchor, font, ink: Ink, text: &str| Shape::Text {
        at,
        anchor,
        size: 14.0,
        font,
        paint: ink.into(),
        text: text.to_owned(),
    };
    drawing.shapes = vec![
        Shape::Rect {
            area: area(10.0, 10.0, 40.0, 30.0),
            round: 6.0,
            fill: Some(Ink::Field.into()),
            line: Some(line(Ink::Buffer, None)),
        },
        Shape::Rect {
            area: area(60.0, 10.0, 20.0, 30.0),
            round: 0.0,
            fill: Some(Paint { ink: Ink::Query, opacity: 0.5 }),
            line: None,
        },
        Shape::Dots {
            centers: vec![[100.0, 20.0], [120.0, 20.0]],
            radius: 6.0,
            fill: Some(Ink::Candidate.into()),
            line: None,
        },
        Shape::Dots {
            centers: vec![[140.0, 20.0]],
            radius: 6.0,
            fill: Some(Ink::Scale(0.5).into()),
            line: Some(line(Ink::Text, None)),
        },
        Shape::Path {
            points: vec![[10.0, 60.0], [60.0, 60.0], [80.0, 50.0]],
            line: line(Ink::Accent, Some(4.0)),
        },
        Shape::Polygon {
            corners: vec![[100.0, 50.0], [120.0, 55.0], [100.0, 60.0]],
            fill: Ink::Neighbor.into(),
        },
        text([10.0, 70.0], [0.0, 0.0], Font::Sans, Ink::Text, "k \u{2264} 8 & a < b"),
        text([190.0, 70.0], [1.0, 0.0], Font::Mono, Ink::TextWeak, "lane ^ 4"),
        Shape::Clip(Some(area(10.0, 90.0, 30.0, 20.0))),
        Shape::Rect {
            area: area(0.0, 80.0, 200.0, 40.0),
            round: 0.0,
            fill: Some(Ink::Intermediate.into()),
            line: None,
        },
        Shape::Clip(None),
        text([100.0, 100.0], [0.5, 0.5], Font::Sans, Ink::Error, "\u{221e} \u{2212} i"),
    ];
    drawing
}

/// The number of colour values that clearly differ between a picture and resvg's rendering of an SVG, with
/// our fonts only.
///
/// # Panics
/// If the SVG cannot be read, or has a different size.
pub fn count_differing(svg: &str, picture: &RgbaImage, scale: f32) -> usize {
    let mut options = usvg::Options::default();
    let fonts = Arc::make_mut(&mut options.fontdb);
    fonts.load_font_data(UBUNTU_LIGHT.to_vec());
    fonts.load_font_data(HACK_REGULAR.to_vec());
    let tree = usvg::Tree::from_str(svg, &options).expect("an SVG");
    let size = tree.size().to_int_size().scale_by(scale).expect("a size");
    let mut pixmap = tiny_skia::Pixmap::new(size.width(), size.height()).expect("a size");
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    assert_eq!((pixmap.width(), pixmap.height()), picture.dimensions());
    pixmap.data().iter().zip(picture.as_raw()).filter(|(a, b)| a.abs_diff(**b) > 96).count()
}
