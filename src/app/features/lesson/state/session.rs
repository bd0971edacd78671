//! State of the open lesson: settings, recording, position, quiz.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::player::Player;
use super::quiz::{Quiz, Score};
use crate::app::model::draft::Draft;
use crate::app::model::fields::{Field, FieldError, number};
use crate::app::model::log::Entry;
use crate::app::model::views::Theme;
use crate::cloud::{Order, PointCloud};
use crate::knn::{Metric, Queries};
use crate::lesson::edits::{Edits, read_keys};
use crate::lesson::fault::Fault;
use crate::lesson::lessons::{Arrangement, LESSONS, Lesson, OWN_DATA, Overrides};
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
    /// Whether to show several takes side by side.
    pub side_by_side: bool,
    /// Whether to record on a GPU if possible.
    pub gpu: bool,
    pub presenter_look: Theme,
    /// Whether the user has dragged something in a map, so that the hint is no longer shown.
    pub has_dragged: bool,
}

impl Default for LessonView {
    fn default() -> Self {
        Self {
            number: 1,
            speed: 2.0,
            side_by_side: true,
            gpu: false,
            presenter_look: Theme::HighContrast,
            has_dragged: false,
        }
    }
}

/// How much of the window the picture fills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PresentationMode {
    /// The picture shares the window with the panels.
    #[default]
    No,
    /// The picture fills the window, except for the player.
    Presenter,
    Bare,
}

#[derive(Clone, Debug)]
pub struct FileQuery {
    /// All queries of the file.
    pub queries: Arc<PointCloud>,
    pub row: u32,
    /// Number of the query in the run, from 0, as the explorer counts.
    pub number: usize,
}

/// The explorer's problem, stored because the explorer may change before the lesson is recorded again.
#[derive(Clone, Debug)]
pub struct ExplorerProblem {
    /// `None` uses the typed row.
    pub query: Option<FileQuery>,
    pub metric: Metric,
    pub order: Order,
    /// For a shuffled order.
    pub seed: u64,
    pub drop_nonfinite: bool,
    pub exclude_self: bool,
}

impl ExplorerProblem {
    /// The problem of a run, with the typed row as its query.
    pub fn from_spec(spec: &RunSpec) -> Self {
        let &RunSpec { metric, order, seed, drop_nonfinite, exclude_self, .. } = spec;
        Self { query: None, metric, order, seed, drop_nonfinite, exclude_self }
    }

    /// The problem of the explorer's fields, with the typed row as its query.
    pub fn from_draft(draft: &Draft) -> Self {
        let &Draft { metric, order, drop_nonfinite, exclude_self, .. } = draft;
        Self { query: None, metric, order, seed: draft.seed().unwrap_or(0), drop_nonfinite, exclude_self }
    }
}

/// A query of the open cloud, for the lesson on the user's own data.
#[derive(Clone, Debug)]
pub struct OpenCloudQuery {
    pub cloud: Arc<PointCloud>,
    /// The queries that contain it.
    pub queries: Queries,
    /// Index of the query in `queries`, from 0.
    pub query: usize,
    pub order: Order,
}

impl OpenCloudQuery {
    /// The lesson's name for the order.
    pub fn arrangement(&self) -> Arrangement {
        if self.order == Order::Shuffled { Arrangement::Shuffled } else { Arrangement::AsDrawn }
    }
}

/// Which fault is injected into the lesson's search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FaultChoice {
    #[default]
    None,
    Chosen(Fault),
    /// A hidden fault, to be found.
    Hunt {
        /// A random number that selects the fault.
        draw: u64,
        guess: Option<Fault>,
    },
}

#[derive(Clone, Default)]
pub struct LessonSession {
    /// Whether the lesson is shown instead of the explorer.
    pub open: bool,
    /// The explorer's last message when the lesson was opened, hidden in the lesson.
    pub before: Option<Entry>,
    pub presenting: PresentationMode,
    /// The zoomed panel; `None` shows all panels.
    pub zoom: Option<Panel>,
    /// Settings by lesson number.
    pub drafts: BTreeMap<u32, LessonDraft>,
    /// The explorer's problem for the lesson on the user's own data; `None` uses the explorer's fields.
    pub asked: Option<ExplorerProblem>,
    pub fault_choice: FaultChoice,
    /// The player, once the lesson is recorded.
    pub player: Option<Player>,
    /// Why the lesson could not be recorded.
    pub error: Option<String>,
    /// The quiz, while questions are asked.
    pub quiz: Option<Quiz>,
    /// The take and position at which the quiz began, to return to.
    pub before_quiz: (usize, usize),
    /// Seed of the questions; `None` draws new ones each time.
    pub questions_seed: Option<u64>,
    /// Moves of query and points.
    pub drag: DragState,
    pub scores: BTreeMap<u32, Score>,
    /// The line of the pseudocode whose source is shown; the inner `None` follows the running line.
    pub source: Option<Option<usize>>,
}

impl LessonSession {
    pub fn player_of(&self, lesson: &Lesson) -> Option<&Player> {
        self.player.as_ref().filter(|player| player.lesson.number == lesson.number)
    }

    pub fn draft(&self, lesson: &Lesson) -> LessonDraft {
        self.drafts.get(&lesson.number).cloned().unwrap_or_else(|| LessonDraft::for_lesson(lesson))
    }

    pub fn set_draft(&mut self, lesson: &Lesson, draft: LessonDraft) {
        self.drafts.insert(lesson.number, draft);
    }

    /// Whether the player must not move, because later steps answer an open or coming question.
    pub fn is_held(&self) -> bool {
        let hides = |quiz: &Quiz| {
            let takes = self.player.as_ref().map_or(0, |player| player.takes.len());
            (0..takes).any(|take| quiz.hides_answer_of(take))
        };
        self.quiz.as_ref().is_some_and(|quiz| quiz.is_asking() || hides(quiz))
    }

    pub fn score(&self, number: u32) -> Score {
        self.scores.get(&number).copied().unwrap_or_default()
    }
}

/// The lesson with this number; the first one if the number is unknown, as in a state of another version.
pub fn lesson_of(number: u32) -> &'static Lesson {
    LESSONS.iter().find(|lesson| lesson.number == number).unwrap_or(&LESSONS[0])
}

/// A lesson's settings, as typed.
#[derive(Clone, Debug, PartialEq)]
pub struct LessonDraft {
    /// Number of neighbours: from 1 to 32 times `width`.
    pub k: String,
    /// Lanes of the warp: 4, 8, 16 or 32.
    pub width: u32,
    pub seed: String,
    /// Whether to use the points of the open cloud instead of the lesson's.
    pub open_cloud: bool,
    /// The query's row in the open cloud.
    pub row: String,
    /// Squared distances that replace the lesson's points; empty to use the points.
    pub keys: String,
    /// Moves in the map.
    pub touched: Edits,
}

impl LessonDraft {
    /// The lesson's own settings.
    pub fn for_lesson(lesson: &Lesson) -> Self {
        Self {
            k: lesson.k.to_string(),
            width: lesson.width,
            seed: lesson.seed.to_string(),
            open_cloud: false,
            row: String::new(),
            keys: String::new(),
            touched: Edits::default(),
        }
    }

    pub fn takes_open_cloud(&self, lesson: &Lesson) -> bool {
        lesson.number == OWN_DATA || (lesson.own_data && self.open_cloud)
    }

    /// Whether another draft records the same search, apart from typed keys and moves.
    pub fn is_alike(&self, other: &Self) -> bool {
        (&self.k, self.width, &self.seed, self.open_cloud, &self.row)
            == (&other.k, other.width, &other.seed, other.open_cloud, &other.row)
    }

    /// Parses the settings; `cloud` is the open cloud that contains the row.
    ///
    /// # Errors
    /// All errors, field by field.
    pub fn read(
        &self,
        lesson: &Lesson,
        cloud: Option<&PointCloud>,
    ) -> Result<(Overrides, Option<usize>), Vec<FieldError>> {
        let mut errors = Vec::new();
        let most = u64::from(self.width) * 32;
        let k = number(Field::K, &self.k, 1, most).map_err(|error| {
            // Explain the limit.
            errors.push(FieldError {
                sentence: format!(
                    "{} A warp of {} lanes holds up to {most}, 32 a lane.",
                    error.sentence, self.width
                ),
                ..error
            });
        });
        let seed = number(Field::Seed, &self.seed, 0, u64::MAX).map_err(|error| errors.push(error));
        let row = match cloud {
            Some(cloud) if !self.row.trim().is_empty() => {
                number(Field::QueryRows, &self.row, 0, cloud.record(cloud.len() - 1))
                    .and_then(|record| {
                        let sentence =
                            || format!("Row {record} was left out when the file was read; type another.");
                        cloud
                            .row_of_record(record)
                            .ok_or_else(|| FieldError { field: Field::QueryRows, sentence: sentence() })
                            .map(Some)
                    })
                    .map_err(|error| errors.push(error))
            }
            Some(cloud) => Ok(Some(cloud.len() / 2)),
            None => Ok(None),
        };
        // The number of keys needed depends on k.
        let keys = k.and_then(|k| self.read_keys(lesson, k as usize).map_err(|error| errors.push(error)));
        match (k, seed, row, keys) {
            (Ok(k), Ok(seed), Ok(row), Ok(keys)) => {
                let touched = Edits { keys, ..self.touched.clone() };
                let (k, width, seed) = (Some(k as usize), Some(self.width), Some(seed));
                Ok((Overrides { k, width, seed, edits: touched }, row))
            }
            _ => Err(errors),
        }
    }

    fn read_keys(&self, lesson: &Lesson, k: usize) -> Result<Option<Vec<f32>>, FieldError> {
        if self.keys.trim().is_empty() {
            return Ok(None);
        }
        let read = read_keys(&self.keys)
            .and_then(|keys| lesson.check_keys(keys.len(), k, self.width).map(|()| keys));
        read.map(Some)
            .map_err(|error| FieldError { field: Field::Keys, sentence: sentence(&error.to_string()) })
    }
}

/// Turns words into a sentence.
pub fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

// Moves of query and points: undo, and comparison with the recording before the move.

/// Maximum number of undo steps.
const MAX_UNDO_STEPS: usize = 100;

/// Recordings that take no longer are made immediately: a frame at 60 Hz.
const FRAME_TIME: Duration = Duration::from_millis(16);

/// Moves in the open lesson.
#[derive(Clone, Default)]
pub struct DragState {
    /// The settings of the recording shown.
    pub recorded: Option<LessonDraft>,
    /// How long that recording took.
    pub took: Option<Duration>,
    /// The player and the moves at the start of the last change: used to keep the position, and to mark
    /// comparators that have changed since.
    pub before: Option<(Player, Edits)>,
    /// Whether the query or a point is being dragged.
    pub held: bool,
    /// Whether something moved during a recording, which must then be repeated.
    pub behind: bool,
    /// The moves before each change, oldest first.
    done: Vec<Edits>,
}

impl DragState {
    /// Begins a change; `touched` are the moves so far.
    pub fn begin(&mut self, touched: Edits, player: &Player) {
        self.before = Some((player.clone(), touched.clone()));
        if self.done.len() == MAX_UNDO_STEPS {
            self.done.remove(0);
        }
        self.done.push(touched);
    }

    /// Removes and returns the moves before the last change.
    pub fn take_back(&mut self) -> Option<Edits> {
        self.done.pop()
    }

    /// Ends a change, and drops it if nothing moved.
    pub fn end(&mut self, touched: &Edits) {
        self.held = false;
        if self.done.last() == Some(touched) {
            self.done.pop();
        }
    }

    /// The player to compare comparators with after a point moved. After a move of the query all distances
    /// differ, so a comparison would be useless.
    pub fn compared(&self, touched: &Edits) -> Option<&Player> {
        self.before.as_ref().filter(|(_, before)| before.query == touched.query).map(|(player, _)| player)
    }

    pub fn can_undo(&self) -> bool {
        !self.done.is_empty()
    }

    /// Clears the undo steps, because the data changed.
    pub fn forget_changes(&mut self) {
        self.done.clear();
    }

    /// Whether a recording is known to fit in a frame.
    pub fn is_quick(&self) -> bool {
        self.took.is_some_and(|took| took <= FRAME_TIME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::features::lesson::state::player::tests::player;
    use crate::app::model::fields::{Field, FieldError};
    use crate::app::testing::cloud;
    use crate::lesson::lessons::OWN_DATA;

    #[test]
    fn default_lesson_fields_are_valid() {
        for lesson in &LESSONS {
            let (choice, row) = LessonDraft::for_lesson(lesson).read(lesson, None).expect("the lesson's own");
            assert_eq!(
                (choice.k, choice.width, choice.seed, row),
                (Some(lesson.k), Some(lesson.width), Some(lesson.seed), None)
            );
        }
    }

    #[test]
    fn the_order_lesson_can_use_the_open_cloud() {
        let takes = |id: &str, open_cloud: bool| {
            let lesson = crate::lesson::lessons::named(id).expect("a lesson");
            LessonDraft { open_cloud, ..LessonDraft::for_lesson(lesson) }.takes_open_cloud(lesson)
        };
        assert_eq!([takes("order", false), takes("order", true)], [false, true]);
        assert_eq!([takes("own-data", false), takes("search", true)], [true, false]);
    }

    #[test]
    fn invalid_lesson_fields_are_explained() {
        let cloud = cloud(50, 2, 1);
        let own = LessonDraft::for_lesson(lesson_of(OWN_DATA));
        let fields = |draft: LessonDraft| {
            draft
                .read(lesson_of(OWN_DATA), Some(&cloud))
                .expect_err("a wrong field")
                .into_iter()
                .map(|error| (error.field, error.sentence))
                .collect::<Vec<_>>()
        };
        let said = fields(LessonDraft { k: "129".to_owned(), width: 4, ..own.clone() });
        assert_eq!(
            said,
            [(Field::K, "k = 129: must be a whole number from 1 to 128. A warp of 4 lanes holds up to 128, 32 a lane.".to_owned())]
        );
        assert_eq!(
            fields(LessonDraft {
                k: String::new(),
                seed: "x".to_owned(),
                row: "50".to_owned(),
                ..own.clone()
            })
            .len(),
            3
        );
        assert_eq!(
            own.read(lesson_of(OWN_DATA), Some(&cloud)).map(|(_, row)| row),
            Ok(Some(25)),
            "the middle row"
        );
        assert_eq!(
            LessonDraft { row: "7".to_owned(), ..own }
                .read(lesson_of(OWN_DATA), Some(&cloud))
                .map(|(_, row)| row),
            Ok(Some(7))
        );
    }

    #[test]
    fn typed_keys_are_parsed_and_errors_explained() {
        let lesson = crate::lesson::lessons::named("sort").expect("a lesson");
        let typed = |keys: &str| LessonDraft { keys: keys.to_owned(), ..LessonDraft::for_lesson(lesson) };
        let (choice, _) = typed("5 3 8 1, 7 2 6 4").read(lesson, None).expect("eight keys");
        assert_eq!(choice.edits.keys, Some(vec![5.0, 3.0, 8.0, 1.0, 7.0, 2.0, 6.0, 4.0]));
        let said = |keys: &str| typed(keys).read(lesson, None).expect_err("no keys")[0].clone();
        assert_eq!(
            said("5 3"),
            FieldError {
                field: Field::Keys,
                sentence: "2 keys: lesson `sort` needs 8 with k = 8 and 8 lanes.".to_owned()
            }
        );
        assert!(said("5 3 8 1 7 2 6 -4").sentence.starts_with("Key -4: must be a squared distance"));
        let many = LessonDraft { k: "128".to_owned(), ..typed("1") }
            .read(lesson, None)
            .expect_err("too many to type");
        assert!(many[0].sentence.contains("accept keys, up to 64"), "{many:?}");
    }

    #[test]
    fn unchanged_edits_are_not_undo_steps() {
        let (mut drag, player) = (DragState::default(), player("sort"));
        let moved = |x| Edits { query: Some([x, 0.5]), ..Edits::default() };
        drag.begin(Edits::default(), &player);
        drag.end(&moved(0.1));
        drag.begin(moved(0.1), &player);
        drag.end(&moved(0.1));
        assert_eq!(drag.take_back(), Some(Edits::default()));
        assert!(!drag.can_undo());
        for at in 0..2 * MAX_UNDO_STEPS {
            drag.begin(moved(at as f32), &player);
        }
        assert_eq!(
            (drag.done.len(), drag.take_back()),
            (MAX_UNDO_STEPS, Some(moved(2.0 * MAX_UNDO_STEPS as f32 - 1.0)))
        );
    }
}
