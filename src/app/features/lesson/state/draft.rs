//! The fields of a lesson, as they are typed.

use crate::app::model::fields::{Field, FieldError, number};
use crate::cloud::PointCloud;
use crate::lesson::lessons::{Choice, Lesson, OWN_DATA};
use crate::lesson::touched::{Touched, read_keys};

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

    /// Whether another draft searches the same data in the same way, apart from typed keys and what was moved.
    pub fn is_alike(&self, other: &Self) -> bool {
        (&self.k, self.width, &self.seed, self.open_cloud, &self.row) == (&other.k, other.width, &other.seed, other.open_cloud, &other.row)
    }

    /// What it says, where it makes sense; `cloud` is what the row is one of, where one is open.
    ///
    /// # Errors
    /// Everything that is wrong, field by field.
    pub fn read(&self, lesson: &Lesson, cloud: Option<&PointCloud>) -> Result<(Choice, Option<usize>), Vec<FieldError>> {
        let mut errors = Vec::new();
        let most = u64::from(self.width) * 32;
        let k = number(Field::K, &self.k, 1, most).map_err(|error| {
            // Why the limit is where it is.
            errors
                .push(FieldError { sentence: format!("{} A warp of {} lanes holds up to {most}, 32 a lane.", error.sentence, self.width), ..error });
        });
        let seed = number(Field::Seed, &self.seed, 0, u64::MAX).map_err(|error| errors.push(error));
        let row = match cloud {
            Some(cloud) if !self.row.trim().is_empty() => number(Field::QueryRows, &self.row, 0, cloud.record(cloud.len() - 1))
                .and_then(|record| {
                    let sentence = || format!("Row {record} was left out when the file was read; type another.");
                    cloud.row_of_record(record).ok_or_else(|| FieldError { field: Field::QueryRows, sentence: sentence() }).map(Some)
                })
                .map_err(|error| errors.push(error)),
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
        let read = read_keys(&self.keys).and_then(|keys| lesson.check_keys(keys.len(), k, self.width).map(|()| keys));
        read.map(Some).map_err(|error| FieldError { field: Field::Keys, sentence: sentence(&error.to_string()) })
    }
}

/// Words as a sentence.
pub fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}
