//! The layers of a large network as stairs.

use super::{check, recorded, texts};
use crate::Step;
use crate::picture::focus::Stairs;
use crate::picture::moment::layers;
use crate::picture::pen::area;
use crate::picture::scene::{Area, Ink, Shape};
use crate::picture::*;
use crate::step::SortPass;

/// The columns from the left: outlined rectangles with the highest bottom edge. Those of the legend are
/// below.
fn columns(scene: &Scene) -> Vec<Area> {
    let outlined =
        |shape: &Shape| if let Shape::Rect { area, line: Some(_), .. } = shape { Some(*area) } else { None };
    let all: Vec<Area> = scene.shapes.iter().filter_map(outlined).collect();
    let ground = all.iter().map(|area| area.bottom()).fold(f32::INFINITY, f32::min);
    all.into_iter().filter(|area| (area.bottom() - ground).abs() < 1.6).collect()
}

#[test]
fn column_height_shows_the_stride() {
    for keys in [4, 64, 256, 1024] {
        let layers = layers(SortPass::Sort, keys);
        let mut scene = Scene::new(700.0, 220.0);
        Stairs { layers: &layers, registers: 8, run: None, text: 14.0 }
            .draw(&mut scene, area(0.0, 0.0, 700.0, 220.0));
        check(&scene, &format!("{keys} keys"));
        let columns = columns(&scene);
        assert_eq!(columns.len(), layers.len());
        assert!(columns.windows(2).all(|pair| pair[0].x < pair[1].x));
        let step = (columns[0].height - columns.iter().map(|area| area.height).fold(0.0, f32::max))
            / (1.0 - keys.ilog2() as f32);
        for (column, layer) in columns.iter().zip(&layers) {
            let expected = columns[0].height + step * layer.stride.ilog2() as f32;
            assert!((column.height - expected).abs() < 0.1, "{layer:?}: {} and {expected}", column.height);
        }
    }
}

#[test]
fn staircase_matches_the_recorded_layers() {
    let recording = recorded("uniform:n=700,d=2", 9, 256, 32);
    let of_first: Vec<usize> = {
        let merge = recording.range_of_merge(0).unwrap();
        merge
            .filter(|&at| matches!(recording.steps()[at], Step::Layer { pass: SortPass::Sort, .. }))
            .collect()
    };
    let shuffles = of_first
        .iter()
        .filter(|&&at| matches!(recording.steps()[at], Step::Layer { shuffle: Some(_), .. }))
        .count();
    let mut cursor = Cursor::new(recording.clone());
    for (done, &at) in of_first.iter().enumerate() {
        cursor.seek(at + 1);
        let scene = draw(Panel::Network, &View::new(&cursor, 14.0), [700.0, 500.0]);
        let words = texts(&scene);
        assert!(words.contains(&format!("{shuffles} layers shuffle between lanes").as_str()), "{words:?}");
        assert!(
            words.contains(&format!("{} layers inside lanes", of_first.len() - shuffles).as_str()),
            "{words:?}"
        );
        let positions: Vec<usize> = scene
            .spots
            .iter()
            .filter_map(|spot| if let Target::Position(at) = spot.target { Some(at) } else { None })
            .collect();
        assert_eq!(positions, of_first.iter().map(|at| at + 1).collect::<Vec<_>>());
        // Only the current column is outlined in the colour of text.
        let lit = scene.shapes.iter().filter_map(|shape| match shape {
            Shape::Rect { area, fill: Some(fill), line: Some(line), .. }
                if fill.ink == Ink::Accent && line.paint == Ink::Text.into() =>
            {
                Some(*area)
            }
            _ => None,
        });
        let lit: Vec<Area> = lit.collect();
        assert_eq!(lit.len(), 1);
        assert_eq!(
            scene.spots.iter().find(|spot| spot.area.contains(lit[0].center())).unwrap().target,
            Target::Position(of_first[done] + 1)
        );
    }
}
