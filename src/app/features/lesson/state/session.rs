//! What of the lesson is open now: which one, what is typed, where one is in it, what is asked.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::player::Player;
use super::quiz::{Quiz, Score};
use crate::app::model::draft::Draft;
use crate::app::model::fields::{Field, FieldError, number};
use crate::app::model::log::Entry;
use crate::app::model::views::Look;
use crate::cloud::{Order, PointCloud};
use crate::knn::{Metric, Queries};
use crate::lesson::fault::Fault;
use crate::lesson::lessons::{Arrangement, Choice, LESSONS, Lesson, OWN_DATA};
use crate::lesson::picture::Panel;
use crate::lesson::touched::{Touched, read_keys};
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
        Self {
            number: 1,
            speed: 2.0,
            side_by_side: true,
            gpu: false,
            presenter_look: Look::HighContrast,
            has_dragged: false,
        }
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

/// What was asked of a query, kept with it: the explorer may ask something else by the time the lesson is
/// recorded again.
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
    /// What the explorer asked of the query that the lesson of own data has from it; `None` where it asks as
    /// the explorer's fields say.
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
    /// The player, where a lesson is the one that was recorded.
    pub fn player_of(&self, lesson: &Lesson) -> Option<&Player> {
        self.player.as_ref().filter(|player| player.lesson.number == lesson.number)
    }

    /// What is typed in a lesson.
    pub fn draft(&self, lesson: &Lesson) -> LessonDraft {
        self.drafts.get(&lesson.number).cloned().unwrap_or_else(|| LessonDraft::of(lesson))
    }

    pub fn set_draft(&mut self, lesson: &Lesson, draft: LessonDraft) {
        self.drafts.insert(lesson.number, draft);
    }

    /// Whether the player is held where it is: what comes next would answer a question that is open, or still
    /// to come.
    pub fn is_held(&self) -> bool {
        let keeps = |quiz: &Quiz| {
            self.player.as_ref().is_some_and(|player| (0..player.takes.len()).any(|take| quiz.keeps(take)))
        };
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

// The fields of a lesson, as they are typed.

/// What may be chosen in a lesson, as it is typed.
#[derive(Clone, Debug, PartialEq)]
pub struct LessonDraft {
    /// Neighbours to find: from 1 to 32 times `width`.
    pub k: String,
    /// Lanes of the warp: 4, 8, 16 or 32.
    pub width: u32,
    pub seed: String,
    /// Whether the points are those of the open cloud, in a lesson that has points of its own too.
    pub open_cloud: bool,
    /// The query's row in the open cloud.
    pub row: String,
    /// Squared distances instead of the lesson's points; empty for these.
    pub keys: String,
    /// What was moved in the map.
    pub touched: Touched,
}

impl LessonDraft {
    /// As the lesson has it.
    pub fn of(lesson: &Lesson) -> Self {
        Self {
            k: lesson.k.to_string(),
            width: lesson.width,
            seed: lesson.seed.to_string(),
            open_cloud: false,
            row: String::new(),
            keys: String::new(),
            touched: Touched::default(),
        }
    }

    /// Whether a lesson's points are those of the cloud that is open, if one is.
    pub fn takes_open_cloud(&self, lesson: &Lesson) -> bool {
        lesson.number == OWN_DATA || (lesson.own_data && self.open_cloud)
    }

    /// Whether another draft searches the same data in the same way, apart from typed keys and what was
    /// moved.
    pub fn is_alike(&self, other: &Self) -> bool {
        (&self.k, self.width, &self.seed, self.open_cloud, &self.row)
            == (&other.k, other.width, &other.seed, other.open_cloud, &other.row)
    }

    /// What it says, where it makes sense; `cloud` is what the row is one of, where one is open.
    ///
    /// # Errors
    /// Everything that is wrong, field by field.
    pub fn read(
        &self,
        lesson: &Lesson,
        cloud: Option<&PointCloud>,
    ) -> Result<(Choice, Option<usize>), Vec<FieldError>> {
        let mut errors = Vec::new();
        let most = u64::from(self.width) * 32;
        let k = number(Field::K, &self.k, 1, most).map_err(|error| {
            // Why the limit is where it is.
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
        // Without a k, nobody knows how many keys it takes.
        let keys = k.and_then(|k| self.read_keys(lesson, k as usize).map_err(|error| errors.push(error)));
        match (k, seed, row, keys) {
            (Ok(k), Ok(seed), Ok(row), Ok(keys)) => {
                let touched = Touched { keys, ..self.touched.clone() };
                Ok((Choice { k: Some(k as usize), width: Some(self.width), seed: Some(seed), touched }, row))
            }
            _ => Err(errors),
        }
    }

    /// The typed keys; `None` where there are none.
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

/// Words as a sentence.
pub fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

// Query and points that are moved by hand: what is recorded, what to go back to, and what a change is
// compared with.

/// Changes that can be undone.
const MOST_CHANGES: usize = 100;

/// What takes no longer to record is recorded at once: a frame of 60 a second.
const FRAME: Duration = Duration::from_millis(16);

/// What is done to the data of the lesson that is open.
#[derive(Clone, Default)]
pub struct Touch {
    /// What the player shows, as it was typed and moved.
    pub recorded: Option<LessonDraft>,
    /// How long that took to record.
    pub took: Option<Duration>,
    /// The player when the last change began, and what had been moved by then: where it was is kept, and
    /// comparators that have turned since are marked.
    pub before: Option<(Player, Touched)>,
    /// Whether the pointer holds the query or a point.
    pub held: bool,
    /// Whether something was moved while a recording was under way: it is made again when that is done.
    pub behind: bool,
    /// What had been moved before each change, the latest last.
    done: Vec<Touched>,
}

impl Touch {
    /// A change begins, of what was moved so far.
    pub fn begin(&mut self, touched: Touched, player: &Player) {
        self.before = Some((player.clone(), touched.clone()));
        if self.done.len() == MOST_CHANGES {
            self.done.remove(0);
        }
        self.done.push(touched);
    }

    /// What had been moved before the last change; it can be taken back once.
    pub fn take_back(&mut self) -> Option<Touched> {
        self.done.pop()
    }

    /// A change ends, to what is moved now: what ends where it began is none.
    pub fn end(&mut self, touched: &Touched) {
        self.held = false;
        if self.done.last() == Some(touched) {
            self.done.pop();
        }
    }

    /// What comparators are held against once something else was moved. Another query changes all distances,
    /// and what turns then tells nothing.
    pub fn compared(&self, touched: &Touched) -> Option<&Player> {
        self.before.as_ref().filter(|(_, before)| before.query == touched.query).map(|(player, _)| player)
    }

    /// Whether there is a change to take back.
    pub fn can_undo(&self) -> bool {
        !self.done.is_empty()
    }

    /// Other data: what was moved in those before cannot be taken back.
    pub fn forget_changes(&mut self) {
        self.done.clear();
    }

    /// Whether a recording fits between two frames, as far as is known.
    pub fn is_quick(&self) -> bool {
        self.took.is_some_and(|took| took <= FRAME)
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
    fn every_lesson_makes_sense_as_it_is() {
        for lesson in &LESSONS {
            let (choice, row) = LessonDraft::of(lesson).read(lesson, None).expect("the lesson's own");
            assert_eq!(
                (choice.k, choice.width, choice.seed, row),
                (Some(lesson.k), Some(lesson.width), Some(lesson.seed), None)
            );
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
        assert_eq!(
            said,
            [(Field::K, "129 is outside 1 to 128. A warp of 4 lanes holds up to 128, 32 a lane.".to_owned())]
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
            "the one in the middle"
        );
        assert_eq!(
            LessonDraft { row: "7".to_owned(), ..own }
                .read(lesson_of(OWN_DATA), Some(&cloud))
                .map(|(_, row)| row),
            Ok(Some(7))
        );
    }

    #[test]
    fn typed_keys_are_read_and_wrong_ones_say_why() {
        let lesson = crate::lesson::lessons::named("sort").expect("a lesson");
        let typed = |keys: &str| LessonDraft { keys: keys.to_owned(), ..LessonDraft::of(lesson) };
        let (choice, _) = typed("5 3 8 1, 7 2 6 4").read(lesson, None).expect("eight keys");
        assert_eq!(choice.touched.keys, Some(vec![5.0, 3.0, 8.0, 1.0, 7.0, 2.0, 6.0, 4.0]));
        let said = |keys: &str| typed(keys).read(lesson, None).expect_err("no keys")[0].clone();
        assert_eq!(
            said("5 3"),
            FieldError {
                field: Field::Keys,
                sentence: "2 keys: lesson sort needs 8 with k = 8 and 8 lanes.".to_owned()
            }
        );
        assert!(said("5 3 8 1 7 2 6 -4").sentence.starts_with("Key -4: a key is a squared distance"));
        let many = LessonDraft { k: "128".to_owned(), ..typed("1") }
            .read(lesson, None)
            .expect_err("too many to type");
        assert!(many[0].sentence.contains("at most 64 keys"), "{many:?}");
    }

    #[test]
    fn a_change_is_taken_back_and_one_that_ends_where_it_began_is_none() {
        let (mut touch, player) = (Touch::default(), player("sort"));
        let moved = |x| Touched { query: Some([x, 0.5]), ..Touched::default() };
        touch.begin(Touched::default(), &player);
        touch.end(&moved(0.1));
        touch.begin(moved(0.1), &player);
        touch.end(&moved(0.1));
        assert_eq!(touch.take_back(), Some(Touched::default()));
        assert!(!touch.can_undo());
        for at in 0..2 * MOST_CHANGES {
            touch.begin(moved(at as f32), &player);
        }
        assert_eq!(
            (touch.done.len(), touch.take_back()),
            (MOST_CHANGES, Some(moved(2.0 * MOST_CHANGES as f32 - 1.0)))
        );
    }
}
