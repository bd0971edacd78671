//! Checks the claims of the ideas: each is computed here in another way, with the CPU twins where possible.

use std::collections::BTreeSet;

use super::*;
use crate::algorithms::heap::HeapStep;
use crate::algorithms::radix_select::RadixSelectStep;
use crate::algorithms::warp_select::WarpSelectStep;
use crate::cloud::{self, Order, Source};
use crate::edits::Edits;
use crate::engines::lockstep::{Fault, registers_for};
use crate::fault::row;
use crate::knn::{Metric, Problem, ProblemParameters, Queries, network, theory};
use crate::lessons::{Arrangement, LESSONS, Overrides, named};
use crate::meter::Strategy;
use crate::own_data::UserData;
use crate::progress::NoProgress;
use crate::step::{SortPass, Step};
use crate::{State, record};

/// The question that contains some words, of a lesson recorded with a choice.
fn asked(id: &str, words: &str, choice: Overrides) -> (Question, Vec<Take>) {
    let lesson = named(id).unwrap();
    let takes = lesson.record(choice, &NoProgress).unwrap();
    let questions = about(lesson, &takes[0], &mut Rng::new(1));
    let found: Vec<Question> =
        questions.into_iter().filter(|question| question.text.contains(words)).collect();
    assert_eq!(found.len(), 1, "{id}: {words}");
    (found.into_iter().next().unwrap(), takes)
}

/// Its correct answer.
fn right(id: &str, words: &str) -> (String, Vec<Take>) {
    let (question, takes) = asked(id, words, Overrides::default());
    (question.right(takes[0].recording.shape().width), takes)
}

#[test]
fn every_lesson_asks_concise_idea_questions() {
    for lesson in &LESSONS {
        let take = lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0);
        let questions = about(lesson, &take, &mut Rng::new(3));
        assert_eq!(
            questions.len(),
            lesson.ideas.len(),
            "lesson {}: with its own sizes, all make sense",
            lesson.id
        );
        let families: BTreeSet<Topic> = questions.iter().map(|question| question.topic).collect();
        assert!(questions.len() >= 3 && families.len() >= 2, "lesson {}: {families:?}", lesson.id);
        let mut texts = BTreeSet::new();
        for question in &questions {
            let said = question
                .misconceptions
                .iter()
                .map(|misconception| misconception.explanation.as_str())
                .chain([question.text.as_str(), question.why.as_deref().unwrap()]);
            for text in said.chain(question.options.iter().map(String::as_str)) {
                assert!(
                    !text.contains(['{', '}']) && !text.contains("  ") && text.len() < 260,
                    "lesson {}: {text}",
                    lesson.id
                );
            }
            assert!(question.text.ends_with('?') && question.text.len() < 130, "{}", question.text);
            assert!(
                question.why.as_ref().unwrap().ends_with('.')
                    && question.misconceptions.iter().all(|wrong| wrong.explanation.ends_with('.'))
            );
            assert!(
                question.options.iter().all(|option| option.len() < 90 && !option.ends_with('.')),
                "{:?}",
                question.options
            );
            assert_eq!(
                question.misconceptions.len() + 1,
                question.options.len(),
                "every wrong option names its misconception"
            );
            assert!(question.misconceptions.iter().all(|wrong| wrong.reply != question.answer.reply()));
            assert!(texts.insert(&question.text), "twice: {}", question.text);
        }
    }
}

/// Always choosing the longest option, or the first, must not be right more often than chance.
#[test]
fn neither_position_nor_length_reveals_the_answer() {
    let (mut places, mut longest, mut all) = ([0; 4], 0, 0);
    for lesson in &LESSONS {
        let take = lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0);
        for seed in 0..20 {
            for question in about(lesson, &take, &mut Rng::new(seed)) {
                let Answer::Choice(right) = question.answer else { panic!("{question:?}") };
                places[right as usize] += 1;
                let length = |option: usize| question.options[option].chars().count();
                longest += u32::from(
                    (0..question.options.len()).all(|option| length(option) <= length(right as usize)),
                );
                all += 1;
            }
        }
    }
    assert!(
        places.iter().all(|&times| times * 100 > all * 20 && times * 100 < all * 30),
        "{places:?} of {all}"
    );
    assert!(longest * 100 < all * 45, "{longest} of {all} right options are the longest");
}

#[test]
fn idea_questions_are_valid_or_skipped_at_other_sizes() {
    for (id, k, width) in [
        ("sort", 4, 4),
        ("sort", 32, 32),
        ("wide", 8, 8),
        ("wide", 256, 8),
        ("merge", 4, 4),
        ("wait", 1024, 32),
        ("own-data", 1024, 32),
        ("heap", 1, 4),
    ]
    .into_iter()
    .chain([
        ("warp-select", 8, 8),
        ("warp-select", 100, 32),
        ("radix-select", 64, 4),
        ("radix-select", 100, 32),
        ("buffer", 8, 4),
        ("problem", 1, 4),
        ("merge", 1, 4),
        ("search", 1, 8),
        ("wide", 1, 8),
    ]) {
        let lesson = named(id).unwrap();
        let take = lesson
            .record(Overrides { k: Some(k), width: Some(width), ..Overrides::default() }, &NoProgress)
            .unwrap()
            .remove(0);
        for question in about(lesson, &take, &mut Rng::new(5)) {
            makes_sense(&question);
        }
    }
    // Few points, as in a reader's own data: fewer than the buffer holds, exactly as many, twice as many.
    let lesson = named("order").unwrap();
    let mut asked = Vec::new();
    for (n, k) in [(9, 8), (16, 32), (32, 32), (64, 32), (128, 32), (4096, 32), (40, 1), (300, 1)] {
        let recording = farthest_first("order", n, k, 32);
        let take = Take { recording, ..lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0) };
        let questions = about(lesson, &take, &mut Rng::new(5));
        questions.iter().for_each(makes_sense);
        asked.push(questions.len());
        let search = about(named("search").unwrap(), &take, &mut Rng::new(5));
        search.iter().for_each(makes_sense);
        assert_eq!(
            search.iter().any(|question| question.text.contains("not merged at the end")),
            n > 32,
            "n = {n}"
        );
    }
    assert_eq!(asked, [2, 2, 2, 2, 4, 4, 2, 4]);
}

/// Checks that options differ, and that no plural follows a 1.
fn makes_sense(question: &Question) {
    let options: BTreeSet<&str> = question.options.iter().map(String::as_str).collect();
    assert!(options.len() == question.options.len() && options.len() >= MIN_OPTIONS, "{question:?}");
    for same in [["by 0", "not at all"], ["about 0", "none"], ["0", "none"]] {
        assert!(!same.iter().all(|option| options.contains(option)), "{question:?}");
    }
    let said = question
        .misconceptions
        .iter()
        .map(|misconception| misconception.explanation.as_str())
        .chain([question.text.as_str(), question.why.as_deref().unwrap()]);
    for text in said.chain(options) {
        assert!(!text.contains('{'), "{text}");
        let text = text.replace("i + 1", "i");
        let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || ",.:?".contains(c)).collect();
        for pair in words.windows(2).filter(|pair| pair[0] == "1") {
            assert!(
                ![
                    "points",
                    "keys",
                    "neighbours",
                    "lanes",
                    "slots",
                    "layers",
                    "levels",
                    "farthest",
                    "nearest"
                ]
                .contains(&pair[1]),
                "{text}"
            );
        }
    }
}

/// A name that no text uses would be computed for nothing.
#[test]
fn every_named_size_is_used_in_a_text() {
    let mut texts = String::new();
    for lesson in &LESSONS {
        texts.extend([lesson.goal, lesson.paragraph, lesson.summary]);
        for idea in lesson.ideas {
            texts.extend([idea.text, idea.right, idea.why]);
            idea.wrong.iter().for_each(|(option, mistake)| texts.extend([*option, *mistake]));
        }
    }
    let unused: Vec<&str> = sizes::names().filter(|name| !texts.contains(name)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

#[test]
fn digit_length_follows_the_warp_width() {
    let lesson = named("radix-select").unwrap();
    for (width, said) in [
        (4, "here of 2 bits, puts every point into one of 4 buckets"),
        (16, "here of 4 bits, puts every point into one of 16 buckets"),
    ] {
        let overrides = Overrides { width: Some(width), ..Overrides::default() };
        let take = lesson.record(overrides, &NoProgress).unwrap().remove(0);
        let shape = take.recording.shape();
        assert!(lesson.fill_in(lesson.paragraph, shape).contains(said));
        // The number of buckets that the recording counts.
        let mut state = take.recording.start();
        take.recording
            .steps()
            .iter()
            .take_while(|step| !matches!(step.radix_select(), Some(RadixSelectStep::Bucket { .. })))
            .for_each(|step| state.apply(step));
        assert_eq!(state.buckets().unwrap().counts.len(), width as usize);
    }
}

/// Layers of a bitonic sort, counted one by one.
fn layers(keys: u32) -> u32 {
    (1..=keys.ilog2()).sum()
}

#[test]
fn doubled_key_answers_match_the_recorded_steps() {
    for (id, words) in [
        ("wait", "how many steps would one merge take"),
        ("merge", "how many layers would follow"),
        ("sort", "how many layers would the sort have"),
    ] {
        let (said, takes) = right(id, words);
        let shape = takes[0].recording.shape();
        let choice = Overrides {
            k: Some(2 * shape.capacity() as usize),
            width: Some(if id == "sort" { 2 * shape.width } else { shape.width }),
            ..Overrides::default()
        };
        let twice = named(id).unwrap().record(choice, &NoProgress).unwrap().remove(0).recording;
        assert_eq!(twice.shape().capacity(), 2 * shape.capacity());
        let merge = &twice.steps()[twice.range_of_merge(1).or_else(|| twice.range_of_merge(0)).unwrap()];
        let of = |wanted: SortPass| {
            merge.iter().filter(|step| matches!(step, Step::Layer { pass, .. } if *pass == wanted)).count()
        };
        let counted = match id {
            "wait" => of(SortPass::Sort) + 1 + of(SortPass::Resort),
            "merge" => of(SortPass::Resort),
            _ => of(SortPass::Sort),
        };
        assert_eq!(said, counted.to_string(), "lesson {id}");
        assert_eq!(of(SortPass::Sort) as u32, layers(2 * shape.capacity()));
    }
}

#[test]
fn halved_lane_answers_match_the_recorded_shuffles() {
    let (said, takes) = right("wide", "how many layers would need a shuffle");
    let shape = takes[0].recording.shape();
    let overrides = Overrides {
        k: Some(shape.capacity() as usize),
        width: Some(shape.width / 2),
        ..Overrides::default()
    };
    let half = named("wide").unwrap().record(overrides, &NoProgress).unwrap().remove(0);
    let steps = &half.recording.steps()[half.range.clone()];
    assert_eq!(
        said,
        steps.iter().filter(|step| matches!(step, Step::Layer { shuffle: Some(_), .. })).count().to_string()
    );
    // If elements are dealt out to the lanes one by one, the layers within a lane are those of large strides.
    for layer in network::sort(shape.capacity()) {
        let inside =
            layer.comparators(shape.capacity()).all(|pair| pair.low % shape.width == pair.high % shape.width);
        assert_eq!(inside, layer.stride >= shape.width);
        let one_computer = layer
            .comparators(shape.capacity())
            .all(|pair| pair.low / shape.registers == pair.high / shape.registers);
        assert_eq!(one_computer, layer.stride < shape.registers);
    }
}

#[test]
fn reversing_all_comparators_sorts_in_descending_order() {
    let mut random = Rng::new(9);
    for keys in [8, 32] {
        assert!(sorted_with(keys, |_| false, &mut random).is_sorted());
        assert!(sorted_with(keys, |_| true, &mut random).is_sorted_by(|a, b| a >= b));
        // Reversing the last size is enough.
        assert!(sorted_with(keys, |size| size == keys as u32, &mut random).is_sorted_by(|a, b| a >= b));
    }
}

/// Sorts a list with a network whose comparators are reversed for some sizes.
fn sorted_with(keys: usize, is_reversed: impl Fn(u32) -> bool, random: &mut Rng) -> Vec<u64> {
    let mut list: Vec<u64> = (0..keys).map(|_| random.bits()).collect();
    for layer in network::sort(keys as u32) {
        for pair in layer.comparators(keys as u32) {
            let (low, high) = (pair.low as usize, pair.high as usize);
            if (list[low] > list[high]) == (pair.ascending ^ is_reversed(layer.size)) {
                list.swap(low, high);
            }
        }
    }
    list
}

/// The element-wise minimum of two lists, sorted.
fn smaller<const N: usize>(buffer: [u32; N], mut result: [u32; N], is_mirrored: bool) -> Vec<u32> {
    if is_mirrored {
        result.reverse();
    }
    let mut kept: Vec<u32> = buffer.into_iter().zip(result).map(|(own, other)| own.min(other)).collect();
    kept.sort_unstable();
    kept
}

#[test]
fn unmirrored_merges_lose_keys_spread_over_both_lists() {
    assert_eq!((smaller([1, 5], [2, 6], false), smaller([1, 5], [2, 6], true)), (vec![1, 5], vec![1, 2]));
    assert_eq!((smaller([1, 2], [5, 6], false), smaller([1, 2], [5, 6], true)), (vec![1, 2], vec![1, 2]));
}

#[test]
fn nearest_first_order_needs_one_merge() {
    let lesson = named("problem").unwrap();
    for n in [100, 1024, 2048] {
        let source = Source::Generate { spec: format!("uniform:d=2,n={n}"), seed: 5 };
        let cloud = std::sync::Arc::new(cloud::load(&source, false, &NoProgress).unwrap());
        let setup = ProblemParameters {
            k: 32,
            metric: Metric::L2,
            order: Order::File,
            seed: 5,
            exclude_self: false,
            drop_zero_rows: false,
        };
        let (query, none) = (Queries::Rows(vec![7]), Edits::default());
        let own = |arrangement| UserData { cloud: &cloud, queries: &query, query: 0, arrangement };
        let merges =
            |order| lesson.record_edited(own(order), setup, 32, &none, None).unwrap().recording.merges();
        assert_eq!(merges(Arrangement::NearestFirst), 1);
        assert_eq!(merges(Arrangement::FarthestFirst), theory::worst_case_merges(n, 32) as usize);
    }
    assert_eq!(
        (right("problem", "nearest first").0, right("order", "twice as many: how").0),
        ("1".to_owned(), "none".to_owned())
    );
}

#[test]
fn bound_on_merges_grows_logarithmically() {
    let (said, takes) = right("order", "the bound on the mean number");
    let shape = takes[0].recording.shape();
    let [n, both] = [u64::from(shape.n), u64::from(shape.k + shape.capacity())];
    // The added points contribute (k + K) / i candidates each, and K candidates make a merge.
    let growth = (n + 1..=2 * n).map(|i| both as f64 / i as f64).sum::<f64>() / f64::from(shape.capacity());
    let said: f64 = said.trim_start_matches("by ").parse().unwrap();
    assert!((said - growth).abs() < 0.06, "{said}, not {growth}");
    assert!((growth - 2.0 * 2f64.ln()).abs() < 0.01);
}

#[test]
fn halving_the_buffer_doubles_the_merges() {
    let (said, takes) = right("buffer", "half as many slots");
    let shape = takes[0].recording.shape();
    let half = shape.capacity() / 2;
    let recording = farthest_first("buffer", shape.n, half as usize, shape.width.min(half));
    assert_eq!(recording.shape().capacity(), half);
    assert_eq!(said, recording.merges().to_string());
}

/// A lesson's search of n points, farthest first, so that every point is a candidate.
fn farthest_first(id: &str, n: u32, k: usize, width: u32) -> std::sync::Arc<Recording> {
    let source = Source::Generate { spec: format!("uniform:d=2,n={n}"), seed: 5 };
    let cloud = std::sync::Arc::new(cloud::load(&source, false, &NoProgress).unwrap());
    let setup = ProblemParameters {
        k,
        metric: Metric::L2,
        order: Order::File,
        seed: 5,
        exclude_self: false,
        drop_zero_rows: false,
    };
    let none = Edits::default();
    let own = UserData {
        cloud: &cloud,
        queries: &Queries::Rows(vec![7]),
        query: 0,
        arrangement: Arrangement::FarthestFirst,
    };
    let take = named(id).unwrap().record_edited(own, setup, width, &none, None);
    take.unwrap().recording
}

/// Whether a faulty search finds the right neighbours, and the candidates without and with the fault.
fn with(fault: Fault, id: &str) -> (bool, [u32; 2]) {
    let lesson = named(id).unwrap().with_data_for(fault);
    let take = lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0);
    let broken = lesson.with_fault(&take, fault).unwrap().recording;
    let end = |recording: &Recording| {
        let mut state = State { fault: recording.parameters.fault, ..recording.start() };
        recording.steps().iter().for_each(|step| state.apply(step));
        state.counts.candidates
    };
    (broken.consequences().unwrap().wrong.is_empty(), [end(&take.recording), end(&broken)])
}

#[test]
fn omitted_steps_have_the_stated_consequences() {
    // An old bound, and no second vote: the same neighbours.
    let (same, [sound, stale]) = with(Fault::Stale, "buffer");
    assert!(same && stale > sound);
    assert!(with(Fault::NoRevote, "buffer").0);
    // No mirror: keys are lost.
    assert!(!with(Fault::NoMirror, row(Fault::NoMirror).lesson).0);
}

#[test]
fn ties_are_broken_by_point_order() {
    let source = Source::Generate { spec: "duplicates:n=200,d=1,distinct=3".to_owned(), seed: 1 };
    let cloud = std::sync::Arc::new(cloud::load(&source, false, &NoProgress).unwrap());
    let setup = ProblemParameters {
        k: 16,
        metric: Metric::L2,
        order: Order::File,
        seed: 1,
        exclude_self: false,
        drop_zero_rows: false,
    };
    let problem = std::sync::Arc::new(Problem::new(&cloud, &Queries::Rows(vec![9]), setup).unwrap());
    let recording = record(problem.clone(), 0, 8, None, "").unwrap();
    let mut state = recording.start();
    recording.steps().iter().for_each(|step| state.apply(step));
    let distances = crate::engines::lockstep::distances_to(&problem, 0, 0..200);
    let mut all: Vec<(u32, u32)> =
        (0..).zip(&distances).map(|(point, distance)| (distance.to_bits(), point)).collect();
    all.sort_unstable();
    assert_eq!(all[15].0, all[16].0, "there is room for one of several");
    assert!(state.neighbours().map(|(point, _)| point).eq(all[..16].iter().map(|(_, point)| *point)));
}

#[test]
fn dropped_keys_are_never_among_the_k_smallest() {
    let mut random = Rng::new(2);
    for keys in [4, 16] {
        for _ in 0..50 {
            let mut list = || {
                let mut list: Vec<u64> = (0..keys).map(|_| random.bits() % 40).collect();
                list.sort_unstable();
                list
            };
            let (buffer, result) = (list(), list());
            for i in 0..keys {
                let dropped = buffer[i].max(result[keys - 1 - i]);
                assert!(buffer.iter().chain(&result).filter(|key| **key <= dropped).count() > keys);
            }
        }
    }
}

#[test]
fn depth_of_a_larger_heap_matches_the_answer() {
    let (said, takes) = right("heap", "how many rounds can a key sink");
    let k = takes[0].recording.shape().k as usize;
    let recording = named("heap")
        .unwrap()
        .record(Overrides { k: Some(2 * k + 1), ..Overrides::default() }, &NoProgress)
        .unwrap()
        .remove(0)
        .recording;
    let (mut rounds, mut most) = (0, 0);
    for step in recording.steps() {
        rounds = if matches!(step.heap(), Some(HeapStep::Sank { .. })) { rounds + 1 } else { 0 };
        most = most.max(rounds);
    }
    assert_eq!(said, most.to_string());
    let meter = recording.meter().unwrap();
    assert!(meter.all(Strategy::ThreadPerQuery) != meter.all(Strategy::Thread));
}

#[test]
fn largest_merge_matches_the_answer() {
    let (said, takes) = right("warp-select", "how many could one merge bring");
    let most = |recording: &Recording| {
        let taken = |step: &Step| {
            if let Some(WarpSelectStep::Exchanged { taken }) = step.warp_select() { taken.count() } else { 0 }
        };
        recording.steps().iter().map(taken).max().unwrap()
    };
    let (shape, recording) = (takes[0].recording.shape(), &takes[0].recording);
    let worst = farthest_first("warp-select", shape.n, shape.k as usize, shape.width);
    assert_eq!(said, most(&worst).to_string());
    assert!(most(recording) <= most(&worst) && most(&worst) < shape.capacity());
}

#[test]
fn longer_digits_need_more_buckets_and_fewer_passes() {
    let (said, takes) = right("radix-select", "how many buckets");
    let wide = 2 * takes[0].recording.shape().width.ilog2();
    // 31 bits, `wide` at a time.
    let passes = (0..31).step_by(wide as usize).count();
    assert_eq!(said, format!("{} buckets, {passes} passes", 2u32.pow(wide)));
    // The bits of non-negative floats sort like the numbers.
    let mut random = Rng::new(4);
    let numbers: Vec<f32> = (0..500)
        .map(|_| f32::from_bits((random.bits() as u32) >> 1))
        .filter(|number| number.is_finite())
        .collect();
    assert!(numbers.windows(2).all(|pair| (pair[0] < pair[1]) == (pair[0].to_bits() < pair[1].to_bits())));
}

#[test]
fn k_above_a_power_of_two_rounds_up_to_the_next() {
    let (said, takes) = right("own-data", "how many slots would the buffer have");
    let shape = takes[0].recording.shape();
    assert_eq!(
        said,
        (registers_for(shape.capacity() as usize + 1, shape.width as usize) as u32 * shape.width).to_string()
    );
    assert_eq!(said, (2 * shape.capacity()).to_string());
}

/// No point of a sphere is nearer than the bound, and one is exactly as near.
#[test]
fn sphere_bound_matches_the_formula() {
    let (query, centre, radius) = ([3.0, 1.0], [0.5, -0.5], 1.5);
    let between = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
    let bound = (between(query, centre) - radius).max(0.0);
    let distances = (0..3600)
        .map(|at| f64::from(at).to_radians() / 10.0)
        .map(|turn| between(query, [centre[0] + radius * turn.cos(), centre[1] + radius * turn.sin()]));
    let nearest = distances.fold(f64::INFINITY, f64::min);
    assert!(nearest >= bound - 1e-9 && nearest < bound + 1e-3);
}
