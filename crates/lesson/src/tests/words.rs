//! Sentences have correct numbers, and lines of the pseudocode occur in the kernel.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;
use crate::algorithms::heap::HEAPS;
use crate::algorithms::kernel::KERNEL;
use crate::algorithms::radix_select::SELECTION;
use crate::algorithms::tree::TRAVERSAL;
use crate::algorithms::warp_select::QUEUES;
use crate::describe::{describe, hex, key, lanes};
use crate::engines::lockstep::{PADDING, key_of};
use crate::step::SlotAssignment;

fn state(width: u32, registers: u32) -> State {
    State::new(Shape { width, registers, k: width * registers, n: 1000 })
}

#[test]
fn ballots_are_described_in_plain_sentences() {
    let mut state = state(32, 1);
    state.max_distance = 0.0123;
    let ballot = Step::Ballot { mask: 0x0002_0008 };
    state.apply(&ballot);
    assert_eq!(
        describe(&ballot, &state),
        "Lanes 3 and 17 are closer than max_distance 0.0123: ballot 0x00020008."
    );
    state.buffered = 5;
    let positions = Step::Positions {
        slots: vec![SlotAssignment { lane: 3, slot: 5 }, SlotAssignment { lane: 17, slot: 6 }],
    };
    assert_eq!(
        describe(&positions, &state),
        "Lane 17 writes to slot 5 + 1 = 6, because one lower lane also votes."
    );
    state.buffered = 31;
    let positions = Step::Positions {
        slots: vec![SlotAssignment { lane: 3, slot: 31 }, SlotAssignment { lane: 17, slot: 32 }],
    };
    let expected = "Lane 3 writes to slot 31 + 0 = 31, because no lower lane votes. Lane 17 would write to \
                    slot 32, which does not exist: it waits.";
    assert_eq!(describe(&positions, &state), expected);
    let none = Step::Ballot { mask: 0 };
    assert_eq!(
        describe(&none, &state),
        "No lane's point is closer than max_distance 0.0123: ballot 0x00000000, and the group is done."
    );
    let again = Step::FilteredAgain { rest: 0x20000, mask: 0 };
    let expected = "Lane 17 had no slot and votes again, against max_distance 0.0123: none is still closer, \
                    ballot 0x00000000.";
    assert_eq!(describe(&again, &state), expected);
}

#[test]
fn lane_masks_are_described_in_words() {
    let cases = [
        (0, "no lane"),
        (1, "lane 0"),
        (0b11, "lanes 0 and 1"),
        (0b111, "lanes 0 to 2"),
        (0b1_1101, "lanes 0 and 2 to 4"),
        (0x0001_5555, "lanes 0, 2, 4, 6, 8, 10, 12, 14 and 16"),
        (u32::MAX, "all 32 lanes"),
    ];
    for (mask, words) in cases {
        assert_eq!(lanes(mask, 32), words);
    }
    assert_eq!(
        (hex(0x2a, 8), hex(3, 4), hex(1, 32)),
        ("0x2a".to_owned(), "0x3".to_owned(), "0x00000001".to_owned())
    );
    assert_eq!((key(PADDING), key(key_of(0.25, 7))), ("\u{221e}".to_owned(), "0.250".to_owned()));
}

/// The numbers after a word of a sentence.
fn number_after(sentence: &str, word: &str) -> u32 {
    let rest =
        &sentence[sentence.find(word).unwrap_or_else(|| panic!("`{word}` in {sentence}")) + word.len()..];
    let digits: String =
        rest.chars().take_while(|c| c.is_ascii_digit() || *c == ',').filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("a number after `{word}` in {sentence}"))
}

#[test]
fn numbers_in_step_sentences_are_correct() {
    let shapes = [
        ("uniform:n=700,d=2", 32, 32),
        ("uniform:n=200,d=2", 20, 4),
        ("duplicates:n=90,d=2,distinct=4", 100, 8),
        ("descending:n=300,d=2", 8, 8),
    ];
    let mut lines = BTreeSet::new();
    for (spec, k, width) in shapes {
        let recording = Arc::new(recorded(spec, 299, k, width));
        let mut cursor = Cursor::new(recording.clone());
        for at in 0..recording.len() {
            let before = cursor.state().clone();
            cursor.seek(at + 1);
            let (step, after) = (cursor.step().unwrap(), cursor.state());
            let sentence = describe(&step, after);
            assert!(
                sentence.ends_with('.')
                    && sentence.starts_with(|first: char| first.is_uppercase() || first.is_ascii_digit()),
                "{sentence}"
            );
            assert!(
                !sentence.contains("NaN")
                    && !sentence.contains("inf ")
                    && !sentence.contains("  ")
                    && sentence.len() < 260,
                "{sentence}"
            );
            match &*step {
                Step::Ballot { mask } | Step::FilteredAgain { mask, .. } => {
                    assert!(sentence.contains(&hex(*mask, width)), "{sentence}")
                }
                Step::Positions { slots } => {
                    let lane = number_after(&sentence, "Lane ");
                    let slot = slots.iter().find(|slot| slot.lane == lane).unwrap();
                    assert_eq!(
                        number_after(&sentence, "slot ") + number_after(&sentence, " + "),
                        slot.slot,
                        "{sentence}"
                    );
                    assert_eq!(number_after(&sentence, " = "), slot.slot);
                    assert_eq!(number_after(&sentence, "slot "), before.buffered);
                }
                Step::Appended { placed } => {
                    assert_eq!(number_after(&sentence, "it holds "), before.buffered + placed.len() as u32)
                }
                Step::Layer { layer, swapped, .. } => {
                    assert_eq!(
                        (number_after(&sentence, "size "), number_after(&sentence, "stride ")),
                        (layer.size, layer.stride)
                    );
                    assert_eq!(number_after(&sentence, "; "), swapped.count());
                }
                Step::Minimum { taken } => assert_eq!(number_after(&sentence, "stay, "), taken.count()),
                Step::MaxDistance { points_seen, .. } => {
                    assert_eq!(number_after(&sentence, "Merge "), before.counts.merges + 1);
                    if *points_seen == after.shape.n {
                        assert_eq!(number_after(&sentence, "all "), *points_seen);
                    }
                }
                Step::Padded { first } => assert_eq!(number_after(&sentence, "holds "), *first),
                Step::Finished => {
                    assert_eq!(number_after(&sentence, "the "), after.neighbours().count() as u32)
                }
                Step::Batch { first, .. } => assert_eq!(number_after(&sentence, ": points "), *first),
                Step::Group { base, .. } => {
                    assert_eq!(number_after(&sentence.replace("points ", "point "), ", point "), *base)
                }
                Step::BufferFull | Step::Swap => {
                    assert!(sentence.contains(&recording.shape().capacity().to_string()))
                }
                step => panic!("{step:?} is a tree's"),
            }
            lines.extend(KERNEL.line_of(&step));
        }
    }
    // Every line with a source in the kernel is lit by some step, except barriers, which are not steps.
    let is_lit = |line: &usize| {
        KERNEL.lines[*line].source.is_some() && !KERNEL.lines[*line].text.starts_with("barrier")
    };
    let named: BTreeSet<usize> = (0..KERNEL.lines.len()).filter(is_lit).collect();
    assert_eq!(lines, named);
}

#[test]
fn every_code_line_occurs_once_in_the_kernel() {
    for line in [&KERNEL, &TRAVERSAL, &QUEUES, &SELECTION, &HEAPS].into_iter().flat_map(|code| &code.lines) {
        let Some((file, search)) = line.source else { continue };
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cuda").join(file);
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{error}: {}", path.display()));
        assert_eq!(text.matches(search).count(), 1, "`{search}` in {file}");
    }
}

/// Numbers are grouped, 1 is singular, and lanes without a point compute nothing.
#[test]
fn counts_use_correct_plurals() {
    let last = |n: u32| {
        let state = State::new(Shape { width: 32, registers: 1, k: 1, n });
        let distances = (0..32u16)
            .map(|lane| if u32::from(lane) < n - 32 { f32::from(lane) + 1.0 } else { f32::INFINITY })
            .collect();
        describe(&Step::Group { base: 32, distances }, &state)
    };
    assert_eq!(
        last(64),
        "Every lane computes the squared distance of one point, points 32 to 63; the smallest is 1.00, in \
         lane 0."
    );
    let three = "Lanes 0 to 2 compute the squared distance of one point each, points 32 to 34; the smallest \
                 is 1.00, in lane 0; the other lanes have no point.";
    assert_eq!(last(35), three);
    let one = "Lane 0 computes the squared distance of the last point, point 32; the smallest is 1.00, in \
               lane 0; no other lane has a point.";
    assert_eq!(last(33), one);
    assert_eq!(
        describe(&Step::BufferFull, &state(32, 32)),
        "The buffer is full: all 1,024 slots are taken, so it is merged with the intermediate result."
    );
    let nearest = recorded("uniform:n=70,d=2", 3, 1, 32);
    let end = describe(&Step::Finished, &fresh(&nearest, nearest.len()));
    assert!(
        end.starts_with(
            "The search is done: the neighbour is in a register, at squared distance 0. Of 70 points, "
        ),
        "{end}"
    );
}
