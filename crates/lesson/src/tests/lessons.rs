//! Every lesson can be recorded, and each question has one right answer.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use super::super::account::account;
use super::super::jsonl;
use super::super::lessons::{LESSONS, Lesson, LessonDuration, Overrides, Take, lesson, named};
use super::super::moments::Selection;
use super::super::picture::Film;
use super::super::print::{Theme, handout};
use super::super::questions::{Misconception, Question, Reply, Topic};
use super::*;
use crate::algorithms::Baseline;
use crate::algorithms::radix_select::RadixSelectStep;
use crate::algorithms::tree::state::lanes_where;
use crate::draw::svg::escaped;
use crate::engines::lockstep::{self, distance_of};
use crate::knn::{network, theory};
use crate::palette;

fn takes(lesson: &Lesson) -> Vec<Take> {
    lesson.record(Overrides::default(), &NoProgress).unwrap()
}

/// The answer worked out from the state before the step, without looking at the step.
fn worked_out(question: &Question, take: &Take) -> Reply {
    let recording = &take.recording;
    let shape = recording.shape();
    let before = fresh(recording, question.at);
    let layer = || match &recording.steps()[question.at] {
        Step::Layer { layer, .. } => *layer,
        step => panic!("{step:?} is no layer"),
    };
    match question.topic {
        Topic::Votes if before.descent().is_some() => {
            let leaf = before.descent().and_then(|descent| descent.leaf.as_ref()).unwrap();
            Reply::Lanes(lanes_where(&leaf.keys, |key| key < before.last()))
        }
        Topic::Leaves => Reply::Number(fresh(recording, recording.len()).counts.groups),
        Topic::Order => Reply::Number(recording.index().unwrap().curve_order.leaves),
        Topic::Child | Topic::Visited => {
            let node = before.descent().unwrap().node().unwrap();
            let (lane, key) = node.nearest().unwrap();
            if question.topic == Topic::Child {
                Reply::Number(lane)
            } else {
                Reply::YesNo(key < before.last())
            }
        }
        Topic::Votes => {
            let distances = recording.distances(before.group.unwrap());
            Reply::Lanes(
                (0..shape.width)
                    .filter(|&lane| distances[lane as usize] < before.max_distance)
                    .map(|lane| 1 << lane)
                    .sum(),
            )
        }
        Topic::Slot => Reply::Number(
            before.buffered
                + (0..question.subject).filter(|lane| before.ballot >> lane & 1 == 1).count() as u32,
        ),
        Topic::Partner => Reply::Number(question.subject ^ (layer().stride / shape.registers)),
        Topic::Swaps => {
            let pair = layer().comparator_of(question.subject);
            let falls = before.registers[pair.low as usize] > before.registers[pair.high as usize];
            Reply::YesNo(falls == pair.ascending)
        }
        Topic::Taken => {
            // After the swap the buffer holds the intermediate result.
            let mut intermediate = before.buffer.clone();
            intermediate.sort_unstable();
            let mirror = (shape.capacity() - 1 - question.subject) as usize;
            Reply::YesNo(intermediate[mirror] < before.registers[question.subject as usize])
        }
        Topic::Merges => Reply::Number(fresh(recording, recording.len()).counts.merges),
        Topic::Takes => {
            let distances = recording.distances(before.group.unwrap());
            let queues = before.queues().unwrap();
            Reply::Lanes(
                (0..shape.width)
                    .filter(|&lane| distances[lane as usize] < distance_of(queues.first(lane)))
                    .map(|lane| 1 << lane)
                    .sum(),
            )
        }
        Topic::Breaks => {
            Reply::YesNo((0..shape.width).any(|lane| before.queues().unwrap().first(lane) < before.last()))
        }
        Topic::Inserts | Topic::Waits => {
            let heaps = before.heaps().unwrap();
            let below = |lane: &u32| heaps.distances[*lane as usize] < distance_of(heaps.root(*lane));
            let mask = (0..shape.width).filter(below).map(|lane| 1 << lane).sum();
            if question.topic == Topic::Inserts { Reply::Lanes(mask) } else { Reply::YesNo(mask != 0) }
        }
        Topic::Rounds | Topic::Idle => {
            // A round for each level that the key sinks by, and one to find that it is in its place, unless
            // it has no children.
            let heaps = before.heaps().unwrap();
            let rounds = |lane: u32| {
                let mut keys = heaps.lane_keys(lane).to_vec();
                let (mut entry, mut rounds) = (0, 0);
                loop {
                    let children =
                        (2 * entry + 1..keys.len().min(2 * entry + 3)).max_by_key(|&child| keys[child]);
                    let Some(child) = children else { return rounds };
                    rounds += 1;
                    if keys[child] <= keys[entry] {
                        return rounds;
                    }
                    keys.swap(entry, child);
                    entry = child;
                }
            };
            let inserting = heaps.inserting.unwrap();
            let needs: Vec<u32> =
                (0..shape.width).filter(|lane| inserting >> lane & 1 == 1).map(rounds).collect();
            let most = *needs.iter().max().unwrap();
            Reply::Number(if question.topic == Topic::Rounds {
                most
            } else {
                most * shape.width - needs.iter().sum::<u32>()
            })
        }
        // Separate tests check these.
        Topic::Why | Topic::WhatIf | Topic::Transfer => question.answer.reply(),
        Topic::Bucket | Topic::Left => {
            let distances = lockstep::distances_to(recording.problem(), 0, 0..shape.n as usize);
            let mut sorted = distances.clone();
            sorted.sort_unstable_by(f32::total_cmp);
            let known = before.buckets().unwrap().passes.len() as u32 * shape.width.ilog2();
            // All bits after the sign up to the end of this pass's digit.
            let prefix = |distance: f32| distance.to_bits() >> (31 - known - shape.width.ilog2());
            let kth = prefix(sorted[shape.k as usize - 1]);
            match question.topic {
                Topic::Bucket => Reply::Number(kth % shape.width),
                _ => {
                    let left = distances.iter().filter(|&&distance| prefix(distance) == kth).count();
                    Reply::Number(left as u32)
                }
            }
        }
    }
}

#[test]
fn every_question_has_one_correct_answer() {
    for lesson in &LESSONS {
        for take in takes(lesson) {
            let questions = lesson.questions(&take);
            let asked: BTreeSet<Topic> = questions.iter().map(|question| question.topic).collect();
            let ideas = lesson.ideas.iter().map(|idea| idea.topic);
            let expected: BTreeSet<Topic> = lesson.topics.iter().copied().chain(ideas).collect();
            assert_eq!(asked, expected, "lesson {}", lesson.number);
            for question in questions {
                let right = worked_out(&question, &take);
                assert!(
                    question.answer.accepts(right),
                    "lesson {}: {question:?}, not {right:?}",
                    lesson.number
                );
                assert!(take.range.contains(&question.at) && question.text.ends_with('?'));
                assert!(
                    !question.text.contains("NaN") && !question.text.contains("inf"),
                    "{}",
                    question.text
                );
                let wrong = match right {
                    Reply::Lanes(mask) => Reply::Lanes(mask ^ 1),
                    // Off by a half, which no tolerance accepts.
                    Reply::Number(number) => Reply::Number(number + number / 2 + 1),
                    Reply::YesNo(yes) => Reply::YesNo(!yes),
                    Reply::Choice(option) => Reply::Choice(option + 1),
                };
                assert!(!question.answer.accepts(wrong), "{question:?}");
                for Misconception { reply, explanation } in &question.misconceptions {
                    assert!(
                        !question.answer.accepts(*reply)
                            && explanation.ends_with('.')
                            && explanation.len() < 260,
                        "{question:?}"
                    );
                    assert_eq!(question.misconception(*reply), Some(explanation.as_str()));
                }
                assert_eq!(question.misconception(right), None);
            }
        }
    }
}

#[test]
fn lessons_have_the_expected_names_and_steps() {
    assert!(LESSONS.iter().zip(1..).all(|(lesson, number)| lesson.number == number));
    let ids = "problem, heap, buffer, wait, sort, wide, merge, search, order, own-data, pruning, \
               warp-select, radix-select";
    assert_eq!(LESSONS.map(|lesson| lesson.id).join(", "), ids);
    for wrong in ["14", "0", "seek", ""] {
        assert_eq!(
            named(wrong).unwrap_err().to_string(),
            format!("unknown lesson `{wrong}`; available: 1 to 13, or {ids}")
        );
    }
    assert!(LESSONS.iter().all(|lesson| named(lesson.id).unwrap().number == lesson.number
        && self::lesson(lesson.number).unwrap().id == lesson.id));
    assert_eq!(["yours", "not-looking"].map(|id| named(id).unwrap().number), [10, 11]);
    let part = |id: &str| {
        let takes = takes(named(id).unwrap());
        let take = &takes[0];
        (take.recording.shape(), take.recording.steps()[take.range.clone()].to_vec())
    };
    let (shape, steps) = part("sort");
    assert_eq!((shape.registers, steps.len()), (1, 6));
    assert!(
        steps.iter().all(|step| matches!(step, Step::Layer { pass: SortPass::Sort, shuffle: Some(_), .. }))
    );
    let (shape, steps) = part("wide");
    assert_eq!((shape.registers, steps.len()), (4, 15));
    assert!(steps.iter().any(|step| matches!(step, Step::Layer { shuffle: None, .. })));
    let (_, steps) = part("merge");
    assert!(
        matches!(&steps[0], Step::Minimum { taken } if taken.count() > 1 && taken.count() < 15),
        "{:?}",
        steps[0]
    );
    assert!(matches!(steps.last(), Some(Step::MaxDistance { .. })) && steps.len() == 6);
    let (_, steps) = part("buffer");
    assert!(
        steps.iter().filter(|step| matches!(step, Step::Ballot { .. })).count() > 2
            && steps.contains(&Step::BufferFull)
    );
    assert!(matches!(steps.last(), Some(Step::FilteredAgain { .. })), "{:?}", steps.last());
    let (shape, steps) = part("search");
    assert_eq!(steps.iter().filter(|step| matches!(step, Step::Batch { .. })).count() as u32, shape.n / 256);
}

#[test]
fn point_order_determines_the_merges() {
    let lesson = named("order").unwrap();
    let takes = takes(lesson);
    let counts: Vec<_> = takes.iter().map(|take| fresh(&take.recording, take.recording.len())).collect();
    let (n, k) = (2048, 32);
    assert!(counts.iter().all(|state| {
        state.registers.iter().map(|key| key >> 32).eq(counts[0].registers.iter().map(|key| key >> 32))
    }));
    let merges: Vec<u32> = counts.iter().map(|state| state.counts.merges).collect();
    assert!(f64::from(merges[0]) <= 1.5 * theory::expected_merges(n, k, k) && merges[0] > 4, "{merges:?}");
    assert_eq!((merges[1], merges[2]), (1, 64));
    let account = account(&counts[2]);
    assert_eq!((account.counts.candidates, account.worst_merges), (2048, 64));
    assert!((account.expected_at_end.merges - theory::expected_merges(n, k, k)).abs() < 1e-12);
    assert_eq!(account.expected, account.expected_at_end);
}

#[test]
fn lessons_accept_custom_sizes() {
    for (id, k, width) in [
        ("sort", 32, 32),
        ("wide", 64, 16),
        ("merge", 64, 8),
        ("buffer", 64, 32),
        ("buffer", 8, 4),
        ("search", 100, 32),
        ("order", 8, 4),
        ("merge", 1024, 32),
        ("warp-select", 40, 4),
        ("warp-select", 100, 32),
        ("radix-select", 64, 4),
        ("radix-select", 100, 32),
        ("heap", 1, 4),
        ("heap", 100, 32),
    ] {
        let choice = Overrides { k: Some(k), width: Some(width), seed: Some(4), ..Overrides::default() };
        for take in named(id).unwrap().record(choice, &NoProgress).unwrap() {
            assert_eq!((take.recording.shape().k as usize, take.recording.shape().width), (k, width));
            assert!(take.range.end <= take.recording.len() && !take.range.is_empty());
        }
    }
}

#[test]
fn steps_round_trip_through_files() {
    for (spec, k, width) in [
        ("uniform:n=300,d=3", 32, 8),
        ("duplicates:n=70,d=1,distinct=3", 100, 32),
        ("descending:n=500,d=2", 16, 4),
    ] {
        let recording = recorded(spec, 299, k, width);
        let mut file = Vec::new();
        jsonl::write(&recording, 0..recording.len(), &mut file).unwrap();
        let (parameters, steps) = jsonl::read(&file[..]).unwrap();
        assert_eq!(parameters, recording.parameters);
        assert_eq!(steps.len(), recording.len());
        for (at, (position, step)) in steps.iter().enumerate() {
            assert_eq!((*position, step), (at + 1, &*recording.step(at)));
        }
        // A part of the file has the same lines.
        let mut part = Vec::new();
        jsonl::write(&recording, 10..13, &mut part).unwrap();
        let (all, part) = (String::from_utf8(file).unwrap(), String::from_utf8(part).unwrap());
        assert!(part.lines().skip(1).eq(all.lines().skip(11).take(3)));
    }
}

#[test]
fn file_errors_report_the_line() {
    let recording = recorded("uniform:n=40,d=2", 0, 4, 4);
    let mut file = Vec::new();
    jsonl::write(&recording, 0..recording.len(), &mut file).unwrap();
    let text = String::from_utf8(file).unwrap();
    let why = |text: &str| jsonl::read(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(why(""), "line 1: the file is empty");
    assert!(why(&text.replacen("\"schema\":2", "\"schema\":9", 1)).starts_with("line 1: schema 9"));
    assert!(why(&text.replacen("\"step\":\"group\"", "\"step\":\"gruop\"", 1)).starts_with("line 3: "));
    assert!(
        why(&text.replacen("\"swapped\":[", "\"swapped\":[4000000000],\"rest\":[", 1))
            .contains("element 4000000000 is out of range")
    );
}

/// A full handout: its texts are escaped, and it loads no other file.
#[test]
fn handouts_are_complete_and_self_contained() {
    for lesson in &LESSONS {
        let takes = takes(lesson);
        let film = Film::new(lesson, takes.clone(), [960.0, 540.0], 1.0, palette::LIGHT);
        let moments = Selection::for_lesson(3).moments(lesson, film.lead()).unwrap();
        let mut text = Vec::new();
        handout::write(&film, &moments, Theme::Adaptive, &NoProgress, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(
            text.contains(lesson.title)
                && [lesson.goal, lesson.paragraph, lesson.summary]
                    .iter()
                    .all(|says| text.contains(&escaped(&lesson.fill_in(says, film.lead().recording.shape()))))
                && !text.contains("NaN"),
            "lesson {}",
            lesson.number
        );
        assert_eq!(text.matches("<figure ").count(), moments.positions.len().min(3));
        assert_eq!(text.matches("<svg ").count(), text.matches("</svg>").count());
        for &at in &moments.positions {
            // The caption has the sentence that the picture omits.
            let sentence = escaped(&film.sentence(at));
            assert!(
                text.contains(&format!("<figure id=\"step-{at}\">"))
                    && text.contains(&format!("</b>{sentence}</figcaption>"))
            );
            assert!(!text.contains(&format!(
                "<li><b class=\"step\">Step {}</b>{sentence}</li>",
                crate::text::thousands(at as u64)
            )));
        }
        // With one take, the steps in between are described, too.
        let sentences = if takes.len() == 1 { moments.all.len().min(400) } else { moments.positions.len() };
        assert!(text.matches("<b class=\"step\">").count() >= sentences);
        // A ballot can be worked out on paper.
        let questions = lesson.round(&takes, lesson.seed);
        let ballots = questions
            .iter()
            .filter(|(_, question)| {
                matches!(
                    question.topic,
                    Topic::Votes | Topic::Child | Topic::Takes | Topic::Inserts | Topic::Waits
                )
            })
            .count();
        assert_eq!(text.matches("Distances from lane 0 on: ").count(), ballots);
        // Answers are only on their separate page.
        let (before, answers) = text.split_once("<section class=\"apart\">").expect("a page of answers");
        assert_eq!(answers.matches("class=\"right\"").count(), questions.len());
        assert!(
            !before.contains("class=\"right\"")
                && before.matches("class=\"ruled\"").count() == questions.len()
        );
        for (_, question) in questions.iter().filter(|(_, question)| question.topic.is_idea()) {
            let why = escaped(question.why.as_deref().unwrap());
            assert!(answers.contains(&why) && !before.contains(&why));
        }
        stands_alone(&text);
    }
}

/// Checks that a page loads no script, file, font or style. The name of a namespace is not loaded.
fn stands_alone(html: &str) {
    let without = html.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    // Fonts are embedded.
    let faces = without.matches("@font-face{").count();
    assert_eq!((faces, without.matches("src:url(data:font/ttf;base64,").count()), (2, 2));
    let without: String = without.lines().filter(|line| !line.starts_with("@font-face{")).collect();
    for outside in
        ["<script", "<link", "<img", "<iframe", "src=", "href=", "@import", "http:", "https:", "//"]
    {
        assert!(!without.contains(outside), "{outside}");
    }
    let open: Vec<&str> = without.split("url(").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
    assert!(
        open.iter().all(|name| name.starts_with("#step") && html.contains(&format!("id=\"{}\"", &name[1..]))),
        "{open:?}"
    );
}

#[test]
fn handouts_use_the_chosen_or_system_theme() {
    let lesson = named("sort").unwrap();
    let film = Film::new(lesson, takes(lesson), [960.0, 540.0], 1.0, palette::HIGH_CONTRAST);
    let moments = Selection::for_lesson(1).moments(lesson, film.lead()).unwrap();
    let written = |theme| {
        let mut text = Vec::new();
        handout::write(&film, &moments, theme, &NoProgress, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    };
    let (readers, own) = (written(Theme::Adaptive), written(Theme::Film));
    assert!(
        readers.contains("@media screen and (prefers-color-scheme:dark)")
            && readers.contains("--canvas:#ffffff")
    );
    assert!(
        !own.contains("prefers-color-scheme")
            && own.contains("--canvas:#000000")
            && !own.contains("--canvas:#ffffff")
    );
    let stopped = AtomicBool::new(true);
    let error = handout::write(&film, &moments, Theme::Film, &stopped, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::Interrupted);
}

/// Numbers in paragraphs equal the recorded counts.
#[test]
fn numbers_in_paragraphs_are_correct() {
    let six = named("order").unwrap();
    assert!(six.paragraph.contains("about 3 + 2 ln(n / 2k) merges where k = K"), "{}", six.paragraph);
    for k in [32, 64, 256] {
        let n = six.points_per_element as usize * k;
        let said = 3.0 + 2.0 * (n as f64 / (2 * k) as f64).ln();
        assert!(
            (said - theory::expected_merges(n, k, k)).abs() < 0.05,
            "k = {k}: {said}, and {}",
            theory::expected_merges(n, k, k)
        );
    }
    let nine = takes(named("warp-select").unwrap()).remove(0).recording;
    let Baseline::WarpSelect(queued) = nine.baseline() else { panic!("lesson 9 is of warp select") };
    assert!(queued.merges > queued.buffer.merges && queued.inserts > queued.buffer.candidates, "{queued:?}");
    assert!(
        queued.keys_merged * queued.buffer.merges < queued.buffer.keys_merged * queued.merges,
        "a merge of the buffer brings more: {queued:?}"
    );
    let ten = takes(named("radix-select").unwrap()).remove(0).recording;
    let first = ten
        .steps()
        .iter()
        .find_map(|step| {
            if let Some(RadixSelectStep::Counted { counts }) = step.radix_select() {
                Some(counts.clone())
            } else {
                None
            }
        })
        .unwrap();
    assert!(
        first.len() == 16 && first.iter().any(|&count| count > 4090),
        "the first pass tells nothing apart: {first:?}"
    );
    let two = named("wide").unwrap();
    let inside = network::sort(32).filter(|layer| layer.lane_stride(4).is_none()).count();
    assert_eq!((network::sort(32).count(), inside), (15, 9));
    let says = two.fill_in(two.paragraph, two.shape());
    assert!(says.contains("of the 15 layers for 32 keys, 9 need no shuffle with R = 4"), "{says}");
    let wait = named("wait").unwrap();
    let take = takes(wait).remove(0);
    let steps = take.recording.steps()[take.range.clone()]
        .iter()
        .filter(|step| matches!(step, Step::Layer { .. } | Step::Minimum { .. }))
        .count();
    assert!(
        wait.fill_in(wait.paragraph, take.recording.shape())
            .contains(&format!("restore the order: {steps} steps")),
        "{steps}"
    );
}

/// Texts use the sizes of the recording, with and without overrides.
#[test]
fn texts_use_the_sizes_of_the_recording() {
    for lesson in &LESSONS {
        assert_eq!(takes(lesson)[0].recording.shape(), lesson.shape(), "lesson {}", lesson.id);
        for text in [lesson.goal, lesson.paragraph, lesson.summary] {
            let says = lesson.fill_in(text, lesson.shape());
            assert!(!says.contains(['{', '}']) && says.ends_with('.'), "lesson {}: {says}", lesson.id);
        }
    }
    let wide = named("wide").unwrap();
    let choice = Overrides { k: Some(64), width: Some(4), ..Overrides::default() };
    let shape = wide.record(choice, &NoProgress).unwrap()[0].recording.shape();
    assert!(wide.fill_in(wide.goal, shape).starts_with("Sort 64 keys with 4 lanes,"));
}

/// Every lesson comes after its prerequisites, and the route is self-contained.
#[test]
fn lessons_follow_their_prerequisites() {
    for lesson in &LESSONS {
        for id in lesson.prerequisites {
            let needed = named(id).unwrap();
            assert!(needed.number < lesson.number, "{id} before {}", lesson.id);
            assert!(
                needed.minutes.is_route() || !lesson.minutes.is_route(),
                "{} is on the route, {id} is not",
                lesson.id
            );
        }
    }
    let route: Vec<u32> = LESSONS
        .iter()
        .filter(|lesson| matches!(lesson.minutes, LessonDuration::OnRoute(_)))
        .map(|lesson| lesson.minutes.count())
        .collect();
    assert_eq!(route.iter().sum::<u32>(), 20);
    assert_eq!(LESSONS.last().unwrap().next().map(|lesson| lesson.id), None);
}
