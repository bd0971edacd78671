//! What of the lesson is open now: which one, what is typed, where one is in it, what is asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::app::features::lesson::state::draft::LessonDraft;
use crate::app::features::lesson::state::player::Player;
use crate::app::features::lesson::state::quiz::{Quiz, Score};
use crate::app::features::lesson::state::touch::Touch;
use crate::app::model::draft::Draft;
use crate::app::model::log::Entry;
use crate::app::model::views::Look;
use crate::cloud::{Order, PointCloud};
use crate::knn::{Metric, Queries};
use crate::lesson::fault::Fault;
use crate::lesson::lessons::{Arrangement, LESSONS, Lesson};
use crate::lesson::picture::Panel;
use crate::run::RunSpec;

/// The lesson's settings that persist between launches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LessonView {
    /// The lesson's number, from 1.
    pub number: u32,
    /// In steps per second.
    pub speed: f32,
    /// Whether takes are shown side by side, where there are several.
    pub side_by_side: bool,
    /// Whether a GPU records where one can.
    pub gpu: bool,
    pub presenter_look: Look,
    /// Whether something was dragged in a map: nobody has to be told any more that it can be.
    pub has_dragged: bool,
}

impl Default for LessonView {
    fn default() -> Self {
        Self { number: 1, speed: 2.0, side_by_side: true, gpu: false, presenter_look: Look::HighContrast, has_dragged: false }
    }
}

/// How much of the window the picture has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presenting {
    /// The picture shares the window with the panels.
    #[default]
    No,
    /// All but the player.
    Presenter,
    /// The picture alone fills the window.
    Bare,
}

/// A query of a file of queries.
#[derive(Clone, Debug)]
pub struct FileQuery {
    /// All points of the file.
    pub queries: Arc<PointCloud>,
    pub row: u32,
    /// Which of the run's queries it was, from 0: as the explorer counts them.
    pub number: usize,
}

/// What was asked of a query, kept with it: the explorer may ask something else by the time the lesson is recorded again.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The query; `None` for the row that is typed.
    pub query: Option<FileQuery>,
    pub metric: Metric,
    pub order: Order,
    /// Of a shuffled order.
    pub seed: u64,
    /// Whether rows that have no place are left out.
    pub drop_nonfinite: bool,
    /// Whether the query's own row was left out.
    pub exclude_self: bool,
}

impl Asked {
    /// Of a run, about the row that is typed.
    pub fn of(spec: &RunSpec) -> Self {
        let &RunSpec { metric, order, seed, drop_nonfinite, exclude_self, .. } = spec;
        Self { query: None, metric, order, seed, drop_nonfinite, exclude_self }
    }

    /// Of the explorer's fields, about the row that is typed.
    pub fn typed(draft: &Draft) -> Self {
        let &Draft { metric, order, drop_nonfinite, exclude_self, .. } = draft;
        Self { query: None, metric, order, seed: draft.seed().unwrap_or(0), drop_nonfinite, exclude_self }
    }
}

/// A query of the cloud that is open, as the lesson of own data searches for its neighbours.
#[derive(Clone, Debug)]
pub struct Own {
    pub cloud: Arc<PointCloud>,
    /// What the query is one of.
    pub queries: Queries,
    /// Index of the query in `queries`, from 0.
    pub query: usize,
    pub order: Order,
}

impl Own {
    /// The same as the lesson calls it.
    pub fn arrangement(&self) -> Arrangement {
        if self.order == Order::Shuffled { Arrangement::Shuffled } else { Arrangement::AsDrawn }
    }
}

/// Which mistake the lesson's search makes on purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Breaking {
    /// The search is as it should be.
    #[default]
    No,
    /// One that was chosen.
    Chosen(Fault),
    /// One that is to be found.
    Hunt {
        /// A random number that decides which one it is.
        draw: u64,
        /// The mistake that the reader named; `None` until then.
        guess: Option<Fault>,
    },
}

#[derive(Clone, Default)]
pub struct LessonSession {
    /// Whether the lesson is shown instead of the explorer.
    pub open: bool,
    /// What the explorer had said last when it was opened: not said beside a lesson.
    pub before: Option<Entry>,
    /// How much of the window the picture has.
    pub presenting: Presenting,
    /// The panel that has all of the picture; `None` where all panels are shown.
    pub zoom: Option<Panel>,
    /// What was typed in each lesson.
    pub drafts: BTreeMap<u32, LessonDraft>,
    /// What the explorer asked of the query that the lesson of own data has from it; `None` where it asks as the explorer's fields say.
    pub asked: Option<Asked>,
    /// The mistake that the open lesson's search makes.
    pub breaking: Breaking,
    /// The lesson, once it is recorded.
    pub player: Option<Player>,
    /// Why it is not.
    pub error: Option<String>,
    /// `None` unless questions are being asked.
    pub quiz: Option<Quiz>,
    /// What draws questions; `None` draws new ones each time.
    pub questions_seed: Option<u64>,
    /// What is moved by hand.
    pub touch: Touch,
    /// How many answers were right, by lesson.
    pub scores: BTreeMap<u32, Score>,
    /// The line of the pseudocode whose source is shown; `None` inside follows what is running.
    pub source: Option<Option<usize>>,
}

impl LessonSession {
    /// What is typed in a lesson.
    pub fn draft(&self, lesson: &Lesson) -> LessonDraft {
        self.drafts.get(&lesson.number).cloned().unwrap_or_else(|| LessonDraft::of(lesson))
    }

    pub fn set_draft(&mut self, lesson: &Lesson, draft: LessonDraft) {
        self.drafts.insert(lesson.number, draft);
    }

    /// Whether the player is held where it is: what comes next would answer a question that is open, or still to come.
    pub fn is_held(&self) -> bool {
        let keeps = |quiz: &Quiz| self.player.as_ref().is_some_and(|player| (0..player.takes.len()).any(|take| quiz.keeps(take)));
        self.quiz.as_ref().is_some_and(|quiz| quiz.is_asking() || keeps(quiz))
    }

    /// How many answers were right in a lesson.
    pub fn score(&self, number: u32) -> Score {
        self.scores.get(&number).copied().unwrap_or_default()
    }
}

/// A lesson by its number; the first one for a number that there is not, as from a state of another version.
pub fn lesson_of(number: u32) -> &'static Lesson {
    LESSONS.iter().find(|lesson| lesson.number == number).unwrap_or(&LESSONS[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::model::fields::{Field, FieldError};
    use crate::app::testing::cloud;
    use crate::lesson::lessons::OWN_DATA;

    #[test]
    fn every_lesson_makes_sense_as_it_is() {
        for lesson in &LESSONS {
            let (choice, row) = LessonDraft::of(lesson).read(lesson, None).expect("the lesson's own");
            assert_eq!((choice.k, choice.width, choice.seed, row), (Some(lesson.k), Some(lesson.width), Some(lesson.seed), None));
        }
    }

    #[test]
    fn the_lesson_of_orders_takes_the_open_cloud_when_it_is_told_to() {
        let takes = |id: &str, open_cloud: bool| {
            let lesson = crate::lesson::lessons::named(id).expect("a lesson");
            LessonDraft { open_cloud, ..LessonDraft::of(lesson) }.takes_open_cloud(lesson)
        };
        assert_eq!([takes("order", false), takes("order", true)], [false, true]);
        assert_eq!([takes("yours", false), takes("search", true)], [true, false]);
    }

    #[test]
    fn wrong_fields_say_what_is_wrong_with_them() {
        let cloud = cloud(50, 2, 1);
        let own = LessonDraft::of(lesson_of(OWN_DATA));
        let fields = |draft: LessonDraft| {
            draft
                .read(lesson_of(OWN_DATA), Some(&cloud))
                .expect_err("a wrong field")
                .into_iter()
                .map(|error| (error.field, error.sentence))
                .collect::<Vec<_>>()
        };
        let said = fields(LessonDraft { k: "129".to_owned(), width: 4, ..own.clone() });
        assert_eq!(said, [(Field::K, "129 is outside 1 to 128. A warp of 4 lanes holds up to 128, 32 a lane.".to_owned())]);
        assert_eq!(fields(LessonDraft { k: String::new(), seed: "x".to_owned(), row: "50".to_owned(), ..own.clone() }).len(), 3);
        assert_eq!(own.read(lesson_of(OWN_DATA), Some(&cloud)).map(|(_, row)| row), Ok(Some(25)), "the one in the middle");
        assert_eq!(LessonDraft { row: "7".to_owned(), ..own }.read(lesson_of(OWN_DATA), Some(&cloud)).map(|(_, row)| row), Ok(Some(7)));
    }

    #[test]
    fn typed_keys_are_read_and_wrong_ones_say_why() {
        let lesson = crate::lesson::lessons::named("sort").expect("a lesson");
        let typed = |keys: &str| LessonDraft { keys: keys.to_owned(), ..LessonDraft::of(lesson) };
        let (choice, _) = typed("5 3 8 1, 7 2 6 4").read(lesson, None).expect("eight keys");
        assert_eq!(choice.touched.keys, Some(vec![5.0, 3.0, 8.0, 1.0, 7.0, 2.0, 6.0, 4.0]));
        let said = |keys: &str| typed(keys).read(lesson, None).expect_err("no keys")[0].clone();
        assert_eq!(said("5 3"), FieldError { field: Field::Keys, sentence: "2 keys: lesson sort needs 8 with k = 8 and 8 lanes.".to_owned() });
        assert!(said("5 3 8 1 7 2 6 -4").sentence.starts_with("Key -4: a key is a squared distance"));
        let many = LessonDraft { k: "128".to_owned(), ..typed("1") }.read(lesson, None).expect_err("too many to type");
        assert!(many[0].sentence.contains("at most 64 keys"), "{many:?}");
    }
}
