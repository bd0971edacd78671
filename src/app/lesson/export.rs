//! What of the lesson becomes a file: the picture, films of a range, steps, the handout.

use std::path::{Path, PathBuf};

use super::player::Player;
use crate::app::draft::{Field, FieldError, number};
use crate::app::export::ExportDialog;
use crate::app::saved::SessionFile;
use crate::export::{ExportError, lesson as files};
use crate::lesson::handout::Theme;
use crate::lesson::lessons::Take;
use crate::lesson::moments::{MOST_FRAMES, MOST_ON_PAPER, Selection};
use crate::lesson::picture::film::{Film, SIZE, SIZE_ON_PAPER};
use crate::lesson::{Cursor, Level};
use crate::palette::Palette;
use crate::progress::Progress;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LessonFile {
    /// The picture, in pixels.
    Picture,
    /// The picture, as shapes.
    Drawing,
    /// A range, moving.
    Gif,
    /// A range, picture by picture.
    Frames,
    /// All steps.
    Steps,
    /// To print, or to read without this program.
    Handout,
}

impl LessonFile {
    /// All, as the menu lists them.
    pub const ALL: [Self; 6] = [Self::Picture, Self::Drawing, Self::Gif, Self::Frames, Self::Handout, Self::Steps];

    /// As the menu says it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Picture => "Picture as PNG…",
            Self::Drawing => "Picture as SVG…",
            Self::Gif => "Film as GIF…",
            Self::Frames => "Film as PNG files…",
            Self::Steps => "Steps as JSON Lines…",
            Self::Handout => "Handout as HTML…",
        }
    }

    /// The file's name before anybody chose one.
    pub fn default_name(self, number: u32) -> String {
        match self {
            Self::Picture => format!("lesson-{number}.png"),
            Self::Drawing => format!("lesson-{number}.svg"),
            Self::Gif => format!("lesson-{number}.gif"),
            Self::Frames => format!("lesson-{number}-frames"),
            Self::Steps => format!("lesson-{number}-steps.jsonl"),
            Self::Handout => format!("lesson-{number}.html"),
        }
    }

    /// Whether it shows a range of steps.
    pub fn has_range(self) -> bool {
        matches!(self, Self::Gif | Self::Frames | Self::Handout)
    }

    /// Pictures at most; where a range has more moments, they are spread evenly.
    pub fn most(self) -> usize {
        if self == Self::Handout { MOST_ON_PAPER } else { MOST_FRAMES }
    }
}

/// What is chosen of a range, as it is typed: steps as the player counts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeDraft {
    /// The first.
    pub from: String,
    /// The last.
    pub to: String,
    /// How many the search has.
    pub steps: usize,
    /// The level of detail.
    pub level: Level,
}

impl RangeDraft {
    /// All that the player shows, at its level.
    pub fn new(player: &Player) -> Self {
        let range = player.range();
        Self { from: range.start.to_string(), to: range.end.to_string(), steps: player.take().recording.len(), level: player.level }
    }

    /// The first and the last step.
    ///
    /// # Errors
    /// What is wrong with the fields.
    pub fn read(&self) -> Result<(usize, usize), FieldError> {
        let from = number(Field::From, &self.from, 0, self.steps as u64)?;
        let to = number(Field::To, &self.to, 0, self.steps as u64)?;
        if from > to {
            return Err(FieldError { field: Field::To, sentence: format!("It comes before step {from}; type a later one.") });
        }
        Ok((from as usize, to as usize))
    }
}

/// What is to be written, detached from the window so that a thread can do it.
pub struct Job {
    /// What kind.
    pub file: LessonFile,
    film: Film,
    take: Take,
    at: usize,
    selection: Selection,
}

impl Job {
    /// Of what the player shows, with takes side by side or the active one alone. `range` is what is chosen of it.
    ///
    /// # Errors
    /// What is wrong with the range.
    pub fn new(file: LessonFile, player: &Player, together: bool, palette: Palette, range: Option<&RangeDraft>) -> Result<Self, FieldError> {
        let takes = if together { player.takes.clone() } else { vec![player.take().clone()] };
        let size = if file == LessonFile::Handout { SIZE_ON_PAPER } else { SIZE };
        let mut film = Film::new(player.lesson, takes, size, 1.0, palette);
        // Pictures of several takes are counted in steps of the one that leads.
        let lead = if together { film.leading() } else { player.active() };
        if together && matches!(file, LessonFile::Picture | LessonFile::Drawing) {
            // What is shown: the others may stand elsewhere than points seen would say, as at the end of each.
            film.standing = player.cursors().iter().map(Cursor::position).collect();
        }
        let at = player.cursors()[lead].position();
        let (mut from, mut to) = (None, None);
        if let Some((first, last)) = range.map(RangeDraft::read).transpose()? {
            let lead_at = |position: usize| {
                if lead == player.active() {
                    return position;
                }
                let mut other = Cursor::new(player.take().recording.clone());
                other.seek(position);
                crate::lesson::picture::page::position_at(&film.lead().recording, other.state().counts.points_seen)
            };
            (from, to) = (Some(lead_at(first)), Some(lead_at(last)));
        }
        let selection = Selection { from, to, level: range.map(|range| range.level), every: 1, most: file.most() };
        Ok(Self { file, take: player.take().clone(), at, selection, film })
    }

    /// Writes it, and says what was written.
    ///
    /// # Errors
    /// One line.
    pub fn write(self, path: &Path, progress: &dyn Progress) -> Result<String, String> {
        let moments = || self.selection.moments(&self.film.lesson, self.film.lead()).map_err(|error| error.to_string());
        let said = |error: ExportError| error.to_string();
        let mut note = String::new();
        match self.file {
            LessonFile::Picture => files::picture(&self.film, self.at, path).map_err(said)?,
            LessonFile::Drawing => files::drawing(&self.film, self.at, path).map_err(said)?,
            LessonFile::Steps => files::steps(&self.take.recording, path).map_err(said)?,
            LessonFile::Gif | LessonFile::Frames | LessonFile::Handout => {
                let moments = moments()?;
                match self.file {
                    LessonFile::Gif => files::gif(&self.film, &moments, 1.0, path, progress).map_err(said)?,
                    LessonFile::Frames => drop(files::frames(&self.film, &moments, path, progress).map_err(said)?),
                    _ => files::handout(&self.film, &moments, Theme::Readers, path, progress).map_err(said)?,
                }
                if moments.positions.len() < moments.all.len() {
                    note = format!("; it shows {} of {} moments", moments.positions.len(), moments.all.len());
                }
            }
        }
        Ok(format!("written: {}{note}", path.display()))
    }
}

/// What is written on a thread of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// A file of a lesson. It can be had again, and may take minutes.
    Lesson,
    /// Runs.
    Recording,
    /// A session, into which the next save goes once this one is there.
    Session(SessionFile),
}

/// An export on its way.
pub struct Exporting {
    /// What it is.
    pub what: Written,
    /// Which file.
    pub path: PathBuf,
    /// How far it is.
    pub task: crate::app::task::Task<Result<String, String>>,
    /// What was asked for, where a dialog asked.
    pub dialog: Option<Box<ExportDialog>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::lesson::player::tests::player;
    use crate::lesson::picture::svg::svg;
    use crate::lesson::picture::{View, comparison};
    use crate::palette::LIGHT;
    use crate::progress::Silent;

    #[test]
    fn every_kind_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        for (number, together) in [(1, false), (6, true)] {
            let mut player = player(number);
            player.choose(player.takes.len() - 1);
            for file in LessonFile::ALL {
                let mut range = RangeDraft::new(&player);
                let start = player.range().start;
                (range.from, range.to) = ((start + 1).to_string(), (start + 3).to_string());
                let job = Job::new(file, &player, together, LIGHT, file.has_range().then_some(&range)).expect("a range");
                let path = folder.path().join(file.default_name(number));
                let said = job.write(&path, &Silent).expect("it can be written");
                assert!(said.starts_with("written: ") && path.exists(), "{said}");
            }
        }
    }

    #[test]
    fn a_picture_of_several_takes_is_the_one_that_is_shown() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lesson.svg");
        let mut player = player(6);
        // The leader is in the middle of a group, where points seen do not say how far the others are.
        player.choose(0);
        player.level = Level::Lane;
        player.seek(player.range().end / 3 + 1);
        let mut elsewhere = 0;
        for _ in 0..3 {
            player.forward();
            Job::new(LessonFile::Drawing, &player, true, LIGHT, None).expect("no range").write(&path, &Silent).expect("it can be written");
            let film = Film::new(player.lesson, player.takes.clone(), SIZE, 1.0, LIGHT);
            let lead = film.leading();
            let view = |cursor| View { cursor, hover: None, asking: false, text: film.text };
            let views: Vec<_> = player.takes.iter().zip(player.cursors()).map(|(take, cursor)| (take, view(cursor))).collect();
            let shown = svg(&comparison(player.lesson, &views, SIZE), &LIGHT);
            assert_eq!(std::fs::read_to_string(&path).expect("a file"), shown);
            elsewhere += u32::from(svg(&film.scene(player.cursors()[lead].position()), &LIGHT) != shown);
        }
        assert!(elsewhere > 0, "points seen alone would have said the same");
    }

    #[test]
    fn a_range_that_makes_no_sense_says_why() {
        let range = RangeDraft { from: "5".to_owned(), to: "3".to_owned(), steps: 10, level: Level::Layer };
        assert_eq!(range.read().map_err(|error| error.field), Err(Field::To));
        let range = RangeDraft { to: "11".to_owned(), ..range };
        assert_eq!(range.read().map_err(|error| error.sentence), Err("11 is outside 0 to 10.".to_owned()));
    }
}
