//! The panel of the two lists of a merge.

use std::sync::Arc;

use super::super::merge_inputs::{Dot, KeyLocation, KeySource, MergeInputs, Phase};
use super::super::moment::is_bitonic;
use super::super::scene::{Ink, Shape};
use super::super::*;
use super::{check, recorded, texts};
use crate::edits::Edits;
use crate::engines::lockstep::{Fault, Key, PADDING, index_of};
use crate::lessons::{Overrides, named};
use crate::progress::NoProgress;
use crate::{Recording, Step};

fn keys(dots: &[Dot]) -> Vec<Key> {
    dots.iter().map(|dot| dot.key).collect()
}

/// The positions right after the minimum of each merge.
fn minima(recording: &Recording) -> impl Iterator<Item = usize> + '_ {
    (1..=recording.len()).filter(|&at| matches!(recording.steps()[at - 1], Step::Minimum { .. }))
}

fn seek(recording: &Arc<Recording>, position: usize) -> Cursor {
    let mut cursor = Cursor::new(recording.clone());
    cursor.seek(position);
    cursor
}

fn shown(cursor: &Cursor, asking: bool) -> Scene {
    draw(Panel::Curves, &View { asking, ..View::new(cursor, 14.0) }, [800.0, 500.0])
}

/// The heights of the full dots of a list, from the left.
fn heights(scene: &Scene, ink: Ink) -> Vec<f32> {
    let is_full = |shape: &&Shape| {
        matches!(
            shape,
            Shape::Dots { fill: Some(fill), line: Some(_), .. } if *fill == ink.into()
        )
    };
    let mut dots: Vec<[f32; 2]> = scene
        .shapes
        .iter()
        .filter(is_full)
        .flat_map(|shape| if let Shape::Dots { centers, .. } = shape { centers.clone() } else { vec![] })
        .collect();
    dots.sort_by(|a, b| a[0].total_cmp(&b[0]));
    dots.into_iter().map(|[_, y]| y).collect()
}

#[test]
fn pairwise_minima_are_the_smallest_keys_in_bitonic_order() {
    let mut crossed = 0;
    for width in [4, 8, 16, 32] {
        for registers in [1, 2, 4, 8, 16, 32] {
            let k = (width * registers) as usize;
            let recording = recorded(&format!("uniform:n={},d=2", 4 * k), 3, k, width);
            for after in minima(&recording) {
                let facing = MergeInputs::at(&seek(&recording, after - 1), false).unwrap();
                let met = MergeInputs::at(&seek(&recording, after), false).unwrap();
                assert_eq!((&facing.phase, &met.phase), (&Phase::Facing, &Phase::Kept));
                assert_eq!(facing.crossings, met.crossings, "the announced crossings occur");
                assert!(
                    met.crossings.len() <= 1 && is_bitonic(&keys(&met.kept)),
                    "W = {width}, R = {registers}: {:?}",
                    met.crossings
                );
                let turn = met.crossings.first().map_or(k, |&at| at as usize);
                assert!(
                    met.kept[..turn].iter().all(|dot| dot.side == met.kept[0].side)
                        && keys(&met.kept[..turn]).is_sorted()
                );
                if turn < k {
                    assert!(met.kept[turn..].iter().all(|dot| dot.side == KeySource::Result));
                    assert!(keys(&met.kept[turn..]).is_sorted_by(|a, b| a >= b));
                    crossed += 1;
                }
                // No key is lost, and the smaller of each pair is kept.
                assert!(
                    met.kept
                        .iter()
                        .zip(&met.lost)
                        .all(|(kept, lost)| kept.key <= lost.key && kept.element == lost.element)
                );
                let sorted = |lists: [&[Dot]; 2]| {
                    let mut all = [keys(lists[0]), keys(lists[1])].concat();
                    all.sort_unstable();
                    all
                };
                assert_eq!(sorted([&facing.buffer, &facing.result]), sorted([&met.kept, &met.lost]));
                for layer in 1..=k.ilog2() as usize {
                    let run = MergeInputs::at(&seek(&recording, after + layer), false).unwrap();
                    let Phase::Resorting { layer: shape, done, .. } = run.phase.clone() else {
                        panic!("{:?}", run.phase)
                    };
                    assert!(
                        done == layer && run.blocks_are_in_order(shape.stride as usize),
                        "W = {width}, R = {registers}, layer {layer}"
                    );
                    assert_eq!(
                        run.kept.iter().filter(|dot| dot.side == KeySource::Result).count(),
                        met.kept.iter().filter(|dot| dot.side == KeySource::Result).count()
                    );
                }
            }
        }
    }
    assert!(crossed > 40, "{crossed}");
}

#[test]
fn curves_rise_and_fall_as_described() {
    let recording = recorded("uniform:n=200,d=2", 9, 16, 8);
    let after = minima(&recording).nth(1).unwrap();
    let facing = shown(&seek(&recording, after - 1), false);
    let (buffer, result) = (heights(&facing, Ink::Buffer), heights(&facing, Ink::Intermediate));
    // Heights are measured from the top. The entry of the legend has no outline.
    assert!(
        buffer.len() == 16 && buffer.is_sorted_by(|a, b| a >= b) && result.len() == 16 && result.is_sorted()
    );
    assert!(texts(&facing).iter().any(|text| text.contains("they cross once, between elements")));
    let tent = shown(&seek(&recording, after), false);
    let (left, right) = (heights(&tent, Ink::Buffer), heights(&tent, Ink::Intermediate));
    assert!(left.len() + right.len() == 16 && !left.is_empty() && !right.is_empty());
    assert!(left.is_sorted_by(|a, b| a >= b) && right.is_sorted());
    assert!(texts(&tent).iter().any(|text| text.contains("it is bitonic")));
    let end = shown(&seek(&recording, after + 5), false);
    let line = heights(&end, Ink::Intermediate);
    assert!(line.len() == 16 && line.is_sorted_by(|a, b| a >= b), "one rising line");
}

/// A question about the list of an element shows two rising lists, without mirror and crossing.
#[test]
fn open_questions_hide_the_origin_of_elements() {
    let recording = recorded("uniform:n=200,d=2", 9, 16, 8);
    let before = minima(&recording).nth(1).unwrap() - 1;
    let cursor = seek(&recording, before);
    let tells = |asking: bool| {
        let scene = shown(&cursor, asking);
        let said = texts(&scene).join(" | ");
        (said.contains("cross"), said.contains("mirror"), heights(&scene, Ink::Intermediate).is_sorted())
    };
    assert_eq!((tells(false), tells(true)), ((true, true, true), (false, false, false)));
    assert_eq!(MergeInputs::at(&cursor, true).unwrap().phase, Phase::Apart { sorted: Some(true) });
    assert!(
        heights(&shown(&cursor, true), Ink::Intermediate).is_sorted_by(|a, b| a >= b),
        "the intermediate result in its own order"
    );
}

#[test]
fn descriptions_mention_lists_that_do_not_cross() {
    let typed: Vec<f32> = (17..=32).chain(1..=16).map(|key| key as f32).collect();
    let choice = Overrides { edits: Edits { keys: Some(typed), ..Edits::default() }, ..Overrides::default() };
    let take = named("merge").unwrap().record(choice, &NoProgress).unwrap().remove(0);
    let after = minima(&take.recording).nth(1).unwrap();
    let said = |at: usize| texts(&shown(&seek(&take.recording, at), false)).join(" | ");
    assert!(
        said(after - 1).contains("They do not cross: no key of the intermediate result is smaller"),
        "{}",
        said(after - 1)
    );
    assert!(said(after).contains("All candidates stay"), "{}", said(after));
}

#[test]
fn padding_is_drawn_at_the_top() {
    let recording = recorded("uniform:n=20,d=2", 0, 8, 32);
    let cursor = seek(&recording, minima(&recording).next().unwrap());
    let scene = shown(&cursor, false);
    assert!(texts(&scene).contains(&"\u{221e}"));
    let empty = scene.shapes.iter().find_map(|shape| match shape {
        Shape::Dots { centers, fill: Some(fill), .. } if *fill == Ink::Panel.into() => Some(centers.clone()),
        _ => None,
    });
    let highest = heights(&scene, Ink::Buffer).into_iter().fold(f32::INFINITY, f32::min);
    assert!(empty.unwrap().iter().all(|[_, y]| *y < highest));
    assert!(
        scene.shapes.iter().any(|shape| matches!(shape, Shape::Path { line, .. } if line.dash.is_some()))
    );
}

/// A target hovered in another panel is ringed here, wherever the merge has it.
#[test]
fn hovered_points_are_ringed_on_the_curves() {
    let recording = recorded("uniform:n=200,d=2", 9, 16, 8);
    let after = minima(&recording).nth(1).unwrap();
    let mut found = 0;
    for position in after - 12..=after + 5 {
        let cursor = seek(&recording, position);
        let shape = recording.shape();
        let hovers = (0..shape.capacity())
            .flat_map(|at| [Target::Element(at), Target::Slot(at)])
            .chain((0..shape.n).map(Target::Point));
        for hover in hovers {
            let meeting = MergeInputs::at(&cursor, false).unwrap();
            let scene =
                draw(Panel::Curves, &View { hover: Some(hover), ..View::new(&cursor, 14.0) }, [700.0, 400.0]);
            let rings = scene.shapes.iter().filter(|shape| {
                matches!(
                    shape,
                    Shape::Dots { fill: None, line: Some(line), .. } if line.paint == Ink::Text.into()
                )
            });
            let is_hit = |dot: &Dot| {
                let of = match dot.place {
                    KeyLocation::Element(element) => Target::Element(element),
                    KeyLocation::Slot(slot) => Target::Slot(slot),
                    KeyLocation::Gone(point) => Target::Point(point),
                };
                of == hover || (dot.key != PADDING && Target::Point(index_of(dot.key)) == hover)
            };
            let hit = meeting.dots().filter(|dot| is_hit(dot)).count();
            assert_eq!(
                (rings.count(), hit),
                (usize::from(hit > 0), usize::from(hit > 0)),
                "{position}, {hover:?}"
            );
            found += hit;
            if let Target::Element(element) = hover {
                let there = meeting.dots().any(|dot| dot.element == element);
                assert!(
                    !there
                        || texts(&scene).iter().any(|text| text.starts_with(&format!("Element {element}")))
                        || position < after - 11
                );
            }
            check(&scene, &format!("{position}, {hover:?}"));
        }
    }
    assert!(found > 18 * 16, "{found}");
}

/// The recording of a fault, on data that show it.
fn broken(fault: Fault) -> Arc<Recording> {
    let lesson = named(crate::fault::row(fault).lesson).unwrap().with_data_for(fault);
    let sound = lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0);
    lesson.with_fault(&sound, fault).unwrap().recording
}

/// The texts about a faulty search do not claim correct properties.
#[test]
fn descriptions_of_unmirrored_merges_are_accurate() {
    let recording = broken(Fault::NoMirror);
    let (mut others, mut lose) = (0, 0);
    for after in minima(&recording) {
        let facing = texts(&shown(&seek(&recording, after - 1), false)).join(" | ");
        assert!(
            facing.contains("against element i of the intermediate result")
                && !facing.contains("mirror")
                && !facing.contains("falls:"),
            "{facing}"
        );
        // Keys are lost if the smallest are spread over both lists.
        let met = MergeInputs::at(&seek(&recording, after), false).unwrap();
        let loses = met.kept.iter().map(|dot| dot.key).max() > met.lost.iter().map(|dot| dot.key).min();
        assert!(!loses || !facing.contains("is smaller") && !facing.contains("are smaller"), "{facing}");
        lose += usize::from(loses && facing.contains("cross"));
        let cursor = seek(&recording, after);
        let keys = keys(&MergeInputs::at(&cursor, false).unwrap().kept);
        let top = (0..keys.len()).max_by_key(|&at| keys[at]).unwrap();
        let is_tent =
            keys[..=top].is_sorted() && keys[top..].is_sorted_by(|a, b| a >= b) && top + 1 < keys.len();
        let said = texts(&shown(&cursor, false)).join(" | ");
        assert!(is_tent || !said.contains("then falls"), "{said}");
        others += usize::from(said.contains("Not a tent"));
    }
    assert!(others > 0 && lose > 0, "{others}, {lose}");
}

/// Claims about rising and falling are true, whatever the fault.
#[test]
fn descriptions_claim_order_only_for_sorted_keys() {
    for (fault, least) in
        [(Fault::Direction, 1), (Fault::NoMirror, 0), (Fault::NoBarrier, 0), (Fault::DistanceOnly, 0)]
    {
        let recording = broken(fault);
        let mut disordered = 0;
        for at in 1..=recording.len() {
            let cursor = seek(&recording, at);
            let Some(meeting) = MergeInputs::at(&cursor, false) else { continue };
            let said = texts(&shown(&cursor, false)).join(" | ");
            let [buffer, result] = [&meeting.buffer, &meeting.result].map(|list| keys(list).is_sorted());
            let falls = keys(&meeting.result).is_sorted_by(|a, b| a >= b);
            for (words, is) in [
                ("The intermediate result rises", result),
                ("intermediate result, sorted", result),
                ("one rising list", result),
                ("Both lists rise", buffer && result),
                ("The candidates rise", buffer),
                ("buffer, sorted", buffer),
                ("buffer, rising", buffer),
                ("One rises, the other falls", buffer && falls),
                ("The intermediate result is not in order", !result),
                ("the intermediate result is not in order", !result),
            ] {
                assert!(!said.contains(words) || is, "{fault:?}, step {at}: {said}");
            }
            disordered += usize::from(
                meeting.phase == Phase::Merged
                    && said.contains("The merge is done: the intermediate result is not in order"),
            );
        }
        assert!(disordered >= least, "{fault:?}: {disordered}");
    }
}
