//! Files of the lesson: picture, animations, steps, handout, worksheet with key, web page.

use std::path::Path;

use super::state::files::{LessonFile, RangeDraft};
use super::state::player::Player;
use crate::app::model::FieldError;
use crate::export::{ExportError, lesson as files};
use crate::lesson::lessons::Take;
use crate::lesson::moments::Selection;
use crate::lesson::picture::film::{Film, PRINT_SIZE, SIZE};
use crate::lesson::player::MAX_PAGE_BYTES;
use crate::lesson::print::Theme;
use crate::lesson::{Cursor, Level, jsonl};
use crate::palette::Palette;
use crate::progress::Progress;

/// A file to write, independent of the window so that a thread can write it.
pub struct ExportJob {
    pub file: LessonFile,
    film: Film,
    take: Take,
    at: usize,
    selection: Selection,
}

impl ExportJob {
    /// A file of what the player shows, with takes side by side or the active one alone; `range` selects
    /// steps.
    ///
    /// # Errors
    /// What is wrong with the range.
    pub fn new(
        file: LessonFile,
        player: &Player,
        together: bool,
        palette: Palette,
        range: Option<&RangeDraft>,
    ) -> Result<Self, FieldError> {
        let takes = if together { player.takes.clone() } else { vec![player.take().clone()] };
        let size = if matches!(file, LessonFile::Handout | LessonFile::Worksheet | LessonFile::Key) {
            PRINT_SIZE
        } else {
            SIZE
        };
        let mut film = Film::new(player.lesson, takes, size, 1.0, palette);
        // Pictures of several takes count steps of the leading one.
        let lead = if together { film.leading() } else { player.active() };
        if together && matches!(file, LessonFile::Picture | LessonFile::Drawing) {
            // Uses the positions shown. Positions derived from points seen may differ, for example at the end
            // of each take.
            film.positions = player.cursors().iter().map(Cursor::position).collect();
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
                crate::lesson::picture::page::position_at(
                    &film.lead().recording,
                    other.state().counts.points_seen,
                )
            };
            (from, to) = (Some(lead_at(first)), Some(lead_at(last)));
        }
        let selection =
            Selection { from, to, level: range.map(|range| range.level), every: 1, max: file.max_pictures() };
        Ok(Self { file, take: player.take().clone(), at, selection, film })
    }

    /// Writes the file and returns a message.
    ///
    /// # Errors
    /// The failure, in one line.
    pub fn write(self, path: &Path, progress: &dyn Progress) -> Result<String, String> {
        let moments =
            || self.selection.moments(&self.film.lesson, self.film.lead()).map_err(|error| error.to_string());
        let said = |error: ExportError| error.to_string();
        let mut note = String::new();
        match self.file {
            LessonFile::Picture => files::picture(&self.film, self.at, path).map_err(said)?,
            LessonFile::Drawing => files::drawing(&self.film, self.at, path).map_err(said)?,
            LessonFile::Worksheet => {
                files::worksheet(&self.film, Theme::Adaptive, path, progress).map_err(said)?
            }
            LessonFile::Key => files::key(&self.film, Theme::Adaptive, path).map_err(said)?,
            LessonFile::Steps => files::steps(&self.take.recording, jsonl::SCHEMA, path).map_err(said)?,
            LessonFile::Page => {
                let page = files::page(&self.film, &moments()?, path, progress).map_err(said)?;
                if page.finest < Level::Lane {
                    note = format!(
                        "; it stops at level {} and coarser, to be no larger than {} MB",
                        page.finest.name(),
                        MAX_PAGE_BYTES / 1_000_000
                    );
                }
            }
            LessonFile::Gif | LessonFile::Frames | LessonFile::Handout => {
                let moments = moments()?;
                match self.file {
                    LessonFile::Gif => files::gif(&self.film, &moments, 1.0, path, progress).map_err(said)?,
                    LessonFile::Frames => {
                        drop(files::frames(&self.film, &moments, path, progress).map_err(said)?)
                    }
                    _ => {
                        files::handout(&self.film, &moments, Theme::Adaptive, path, progress).map_err(said)?
                    }
                }
                if moments.positions.len() < moments.all.len() {
                    note = format!("; it shows {} of {} moments", moments.positions.len(), moments.all.len());
                }
            }
        }
        Ok(format!("written: {}{note}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::features::lesson::state::player::tests::player;
    use crate::app::model::fields::Field;
    use crate::draw::svg::svg;
    use crate::lesson::picture::{View, comparison};
    use crate::palette::LIGHT;
    use crate::progress::NoProgress;

    #[test]
    fn every_export_format_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        for (id, together) in [("sort", false), ("order", true)] {
            let mut player = player(id);
            player.choose(player.takes.len() - 1);
            for file in LessonFile::ALL {
                let mut range = RangeDraft::new(&player);
                let start = player.range().start;
                (range.from, range.to) = ((start + 1).to_string(), (start + 3).to_string());
                let job = ExportJob::new(file, &player, together, LIGHT, file.has_range().then_some(&range))
                    .expect("a range");
                let path = folder.path().join(file.default_name(player.lesson.number));
                let said = job.write(&path, &NoProgress).expect("it can be written");
                assert!(said.starts_with("written: ") && path.exists(), "{said}");
            }
        }
    }

    #[test]
    fn comparison_drawings_match_the_screen() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lesson.svg");
        let mut player = player("order");
        // The leader is in the middle of a group, where points seen do not determine the positions of the
        // others.
        player.choose(0);
        player.level = Level::Lane;
        player.seek(player.range().end / 3 + 1);
        let mut elsewhere = 0;
        for _ in 0..3 {
            player.forward();
            ExportJob::new(LessonFile::Drawing, &player, true, LIGHT, None)
                .expect("no range")
                .write(&path, &NoProgress)
                .expect("it can be written");
            let film = Film::new(player.lesson, player.takes.clone(), SIZE, 1.0, LIGHT);
            let lead = film.leading();
            let view = |cursor| View::new(cursor, film.text);
            let views: Vec<_> = player
                .takes
                .iter()
                .zip(player.cursors())
                .map(|(take, cursor)| (take, view(cursor)))
                .collect();
            let shown = svg(&comparison(player.lesson, &views, SIZE), &LIGHT);
            assert_eq!(std::fs::read_to_string(&path).expect("a file"), shown);
            elsewhere += u32::from(svg(&film.scene(player.cursors()[lead].position()), &LIGHT) != shown);
        }
        assert!(elsewhere > 0, "points seen alone would give the same picture");
    }

    #[test]
    fn invalid_ranges_are_explained() {
        let range = RangeDraft { from: "5".to_owned(), to: "3".to_owned(), steps: 10, level: Level::Layer };
        assert_eq!(range.read().map_err(|error| error.field), Err(Field::To));
        let range = RangeDraft { to: "11".to_owned(), ..range };
        assert_eq!(
            range.read().map_err(|error| error.sentence),
            Err("11: must be a whole number from 0 to 10.".to_owned())
        );
    }
}
