//! A sixth algorithm, insertion into a sorted list: this file and a row are all that it needs.

use std::io::{self, Write};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::*;
use crate::Result;
use crate::algorithms::{
    Algorithm, AlgorithmPictures, AlgorithmQuestions, AlgorithmState, AlgorithmStep, Baseline, Pseudocode,
    SpecificState,
};
use crate::draw::svg::svg;
use crate::engines::lockstep::{self, Key, distance_of, distances_to, key_of};
use crate::knn::Descriptor;
use crate::lessons::{LESSONS, Lesson, Overrides, SearchAlgorithm, SearchRange, Take};
use crate::moments::Selection;
use crate::palette::LIGHT;
use crate::picture::page::page;
use crate::picture::scene::{Area, Ink};
use crate::picture::sentence::sentence;
use crate::picture::{Film, Panel, Scene, View, draw};
use crate::print::{Theme, handout};
use crate::questions::{Question, QuestionPicker, Topic};
use crate::recording::Marks;

/// A step of the dummy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum DummyStep {
    /// A point was compared with the list, and inserted if it is nearer than its last.
    Compared { point: u32, squared_distance: f32 },
}

/// The state of the dummy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DummyState {
    compared: u32,
}

/// The dummy's baseline: none.
#[derive(Debug)]
pub struct DummyBaseline;

impl DummyBaseline {
    pub(crate) const TWIN: (&Descriptor, &str) = (&lockstep::LOCKSTEP, "the dummy's twin");
}

impl DummyStep {
    fn key(&self) -> Key {
        let Self::Compared { point, squared_distance } = *self;
        key_of(squared_distance, point)
    }
}

impl AlgorithmStep for DummyStep {
    fn apply(&self, state: &mut State) {
        if let SpecificState::Dummy(dummy) = state.own.get_or_insert_with(|| DummyState::default().into()) {
            dummy.compared += 1;
        }
        if self.key() < state.last() {
            let last = state.shape.k as usize - 1;
            state.registers[last] = self.key();
            state.registers[..=last].sort_unstable();
            state.max_distance = distance_of(state.last());
            state.counts.candidates += 1;
        }
        state.counts.points_seen += 1;
    }

    fn cost(&self, shape: Shape) -> u64 {
        shape.k.into()
    }

    fn level(&self) -> Level {
        Level::Stage
    }

    fn mark(&self, before: &State, marks: &mut Marks) {
        if self.key() < before.last() {
            marks.hit();
            marks.distances.push(distance_of(self.key()));
        }
    }
}

impl AlgorithmState for DummyState {
    fn describe(&self, step: &Step, after: &State) -> Option<String> {
        Some(match step {
            Step::Finished => format!("All {} are compared.", self.compared),
            _ => format!("Comparison {} of {}.", self.compared, after.shape.n),
        })
    }
}

static CODE: LazyLock<Pseudocode> = LazyLock::new(|| {
    Pseudocode::new(
        ["Insertion", "Insertion: a point", "Insertion: the end"],
        "for each point: insert it\n\ndone",
        |step| Some(if *step == Step::Finished { 2 } else { 0 }),
    )
});

impl AlgorithmQuestions for DummyBaseline {
    fn suits(&self, topic: Topic, at: usize, recording: &Recording) -> bool {
        topic == Topic::Swaps && recording.steps()[at] != Step::Finished
    }

    fn question(&self, pick: &mut QuestionPicker<'_>) -> Option<Question> {
        let &mut QuestionPicker { recording, topic, at, before, .. } = pick;
        let Step::Own(step) = &recording.steps()[at] else { return None };
        let mut after = before.clone();
        step.get().apply(&mut after);
        let answer = questions::Answer::YesNo(after.registers != before.registers);
        Some(Question::new(topic, at, 0, "Is the next point inserted?".to_owned(), answer))
    }

    fn printed_data(&self, _ask: Topic, _step: &Step, _state: &State) -> String {
        " The list is given.".to_owned()
    }
}

impl Algorithm for DummyBaseline {
    fn code(&self) -> &'static Pseudocode {
        &CODE
    }

    fn mark_names(&self) -> [Option<&'static str>; 3] {
        [Some("Inserted"), None, None]
    }

    fn initial_words(&self) -> &'static str {
        "the list is empty"
    }
}

impl AlgorithmPictures for DummyBaseline {
    fn draw_account(&self, view: &View<'_>, size: [f32; 2]) -> Scene {
        let mut scene = view.scene(size);
        scene.fill(Area { x: 0.0, y: 0.0, width: size[0], height: size[1] }, Ink::Field);
        scene
    }

    fn caption(&self, _view: &View<'_>, bound: &str) -> String {
        format!("The last of the list: {bound}")
    }

    fn write_table(&self, _film: &Film, take: &Take, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "<p>{} comparisons</p>", take.recording.shape().n)
    }
}

pub(crate) fn record_dummy(problem: Arc<Problem>, query: usize, width: u32, data: &str) -> Result<Recording> {
    let shape = Shape::for_problem(&problem, width);
    let distances = distances_to(&problem, query, 0..problem.n());
    let mut steps: Vec<Step> = (0..)
        .zip(&distances)
        .map(|(point, &squared_distance)| DummyStep::Compared { point, squared_distance }.into())
        .collect();
    steps.push(Step::Finished);
    let parameters = Parameters::new(&lockstep::LOCKSTEP, shape, &problem, query, data);
    Ok(Recording::new(parameters, problem, query, steps).with_baseline(DummyBaseline))
}

#[test]
fn a_new_algorithm_supports_the_whole_pipeline() {
    let lesson = Lesson {
        search: SearchAlgorithm::Dummy,
        topics: &[Topic::Swaps],
        ideas: &[],
        k: 5,
        width: 8,
        shows: SearchRange::Whole,
        grid: LESSONS[7].grid,
        ..LESSONS[0]
    };
    let take = lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0);
    let recording = take.recording.clone();
    let kernel = record(recording.problem().clone(), 0, 8, None, "a test").unwrap();
    let n = recording.shape().n;
    assert!(matches!(recording.baseline(), Baseline::Dummy(_)));

    // Replayed: to the kernel's answer, and back.
    let end = fresh(&recording, recording.len());
    let answer = |state: &State| state.neighbours().collect::<Vec<_>>();
    assert_eq!(answer(&end), answer(&fresh(&kernel, kernel.len())));
    let mut cursor = Cursor::new(recording.clone());
    for position in [recording.len(), 40, 41, 0] {
        cursor.seek(position);
        assert_eq!(cursor.state(), &fresh(&recording, position));
    }
    assert_eq!(cursor.next(Level::Merge), recording.len(), "its steps are stages");
    assert!(cursor.next_mark(Mark::BallotHit).is_some());

    // Described, and written as steps that are read back.
    assert_eq!(sentence(&cursor), recording.opening().unwrap().question);
    let plain = Arc::new(record_dummy(recording.problem().clone(), 0, 8, "a test").unwrap());
    assert!(sentence(&Cursor::new(plain)).ends_with("the list is empty."));
    let mut file = Vec::new();
    jsonl::write(&recording, 0..recording.len(), &mut file).unwrap();
    let text = String::from_utf8(file).unwrap();
    assert!(
        text.contains("\"step\":\"compared\",\"point\":3")
            && text.contains(&format!("Comparison {n} of {n}."))
            && text.contains(&format!("All {n} are compared."))
    );
    let read = jsonl::read(text.as_bytes()).unwrap().1;
    assert!(read.iter().map(|(_, step)| step).eq(recording.steps()));

    // Drawn, alone and on a page; asked about; printed.
    for position in [0, 1, 50, recording.len()] {
        cursor.seek(position);
        let view = View::new(&cursor, 14.0);
        for panel in Panel::ALL {
            assert_eq!(draw(panel, &view, [500.0, 300.0]).size, [500.0, 300.0]);
        }
        let asking = View { asking: true, ..view };
        assert!(svg(&page(&lesson, &take, &asking, [1280.0, 720.0]), &LIGHT).contains("Insertion"));
    }
    let questions = lesson.questions(&take);
    assert!(
        !questions.is_empty()
            && questions.iter().all(|question| question.text == "Is the next point inserted?")
    );
    let film = Film::new(&lesson, vec![take], [960.0, 540.0], 1.0, LIGHT);
    let moments = Selection::for_lesson(3).moments(&lesson, film.lead()).unwrap();
    let mut page = Vec::new();
    handout::write(&film, &moments, Theme::Film, &NoProgress, &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains(&format!("{n} comparisons")) && page.contains("The list is given."));
    let mut played = Vec::new();
    player::write(&film, &moments, &NoProgress, &mut played).unwrap();
    assert!(!played.is_empty());
}
