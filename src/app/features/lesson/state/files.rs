//! Kinds of files that a lesson can be exported to.

use super::player::Player;
use crate::app::model::fields::{Field, FieldError, number};
use crate::lesson::Level;
use crate::lesson::moments::{MAX_FRAMES, MAX_PRINTED};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LessonFile {
    Picture,
    /// The picture as vector shapes.
    Drawing,
    /// A range of steps as an animation.
    Gif,
    /// A range of steps as one image each.
    Frames,
    Steps,
    /// For printing, or reading without Warpscope.
    Handout,
    /// Questions for a class, without answers.
    Worksheet,
    /// The answers to the worksheet, for the teacher.
    Key,
    /// An interactive page for a browser.
    Page,
}

impl LessonFile {
    /// All kinds, in menu order.
    pub const ALL: [Self; 9] = [
        Self::Picture,
        Self::Drawing,
        Self::Gif,
        Self::Frames,
        Self::Handout,
        Self::Worksheet,
        Self::Key,
        Self::Page,
        Self::Steps,
    ];

    /// Menu text, and the end of the default file name.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Picture => ("Picture as PNG…", ".png"),
            Self::Drawing => ("Picture as SVG…", ".svg"),
            Self::Gif => ("Film as GIF…", ".gif"),
            Self::Frames => ("Film as PNG files…", "-frames"),
            Self::Steps => ("Steps as JSON Lines…", "-steps.jsonl"),
            Self::Handout => ("Handout as HTML…", ".html"),
            Self::Worksheet => ("Worksheet as HTML…", "-worksheet.html"),
            Self::Key => ("Key of the worksheet as HTML…", "-key.html"),
            Self::Page => ("Page that plays (HTML)…", "-page.html"),
        }
    }

    pub fn text(self) -> &'static str {
        self.words().0
    }

    pub fn default_name(self, number: u32) -> String {
        format!("lesson-{number}{}", self.words().1)
    }

    /// Why this file is unavailable for the current recording; `None` if it is available.
    pub fn lacks(self, player: &Player) -> Option<&'static str> {
        let has_mistake = player.takes.iter().any(|take| take.recording.parameters.fault.is_some());
        (has_mistake && matches!(self, Self::Worksheet | Self::Key)).then_some(
            "Nothing is asked about a search with a mistake. Under \u{201c}Break it\u{201d}, choose no \
             mistake.",
        )
    }

    pub fn has_range(self) -> bool {
        matches!(self, Self::Gif | Self::Frames | Self::Handout | Self::Page)
    }

    /// Maximum number of pictures. A longer range is sampled evenly, except for a page.
    pub fn max_pictures(self) -> usize {
        match self {
            Self::Page => usize::MAX,
            Self::Handout => MAX_PRINTED,
            _ => MAX_FRAMES,
        }
    }
}

/// A range of steps as typed, in the player's numbering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeDraft {
    pub from: String,
    pub to: String,
    pub steps: usize,
    pub level: Level,
}

impl RangeDraft {
    /// The range that the player shows, at its level.
    pub fn new(player: &Player) -> Self {
        let range = player.range();
        Self {
            from: range.start.to_string(),
            to: range.end.to_string(),
            steps: player.take().recording.len(),
            level: player.level,
        }
    }

    /// The first and the last step.
    ///
    /// # Errors
    /// What is wrong with the fields.
    pub fn read(&self) -> Result<(usize, usize), FieldError> {
        let from = number(Field::From, &self.from, 0, self.steps as u64)?;
        let to = number(Field::To, &self.to, 0, self.steps as u64)?;
        if from > to {
            return Err(FieldError {
                field: Field::To,
                sentence: format!("It comes before step {from}; type a later one."),
            });
        }
        Ok((from as usize, to as usize))
    }
}
