//! A lesson's moments as pictures of one size and look.

use image::RgbaImage;

use super::raster::{SizeError, pixels, raster};
use super::sentence::sentence;
use super::{Scene, View, comparison, page};
use crate::lesson::cursor::Cursor;
use crate::lesson::lessons::{Lesson, Take};
use crate::lesson::picture::page::position_at;
use crate::palette::Palette;
use crate::text::count;

/// Width and height of a picture, unless it is said: of a projector.
pub const SIZE: [f32; 2] = [1280.0, 720.0];

/// Of one on paper: the smallest, so that its text is large there.
pub const SIZE_ON_PAPER: [f32; 2] = [960.0, 540.0];

/// Lines of running text that are as high as a picture.
const LINES: f32 = 45.0;

/// The smallest running text, in points.
const SMALLEST: f32 = 12.0;

/// What pictures are of, and how they look. One take fills the page; several stand side by side, each after as many
/// points as the leading one has seen.
#[derive(Clone, Debug)]
pub struct Film {
    /// The lesson.
    pub lesson: Lesson,
    /// At least one.
    pub takes: Vec<Take>,
    /// Width and height in points.
    pub size: [f32; 2],
    /// The size of running text, in points.
    pub text: f32,
    /// Pixels a point.
    pub scale: f32,
    /// The colours.
    pub palette: Palette,
    /// Where somebody left the takes, a position each: they stand so where the leading one is at its own of these. Empty, where
    /// points seen say it everywhere.
    pub standing: Vec<usize>,
}

impl Film {
    /// Pictures of some size, with text that goes with it.
    pub fn new(lesson: &Lesson, takes: Vec<Take>, size: [f32; 2], scale: f32, palette: Palette) -> Self {
        Self { lesson: *lesson, takes, size, text: (size[1] / LINES).max(SMALLEST), scale, palette, standing: Vec::new() }
    }

    /// The take whose positions say when: the one with the most steps.
    ///
    /// # Panics
    /// Without a take.
    pub fn lead(&self) -> &Take {
        &self.takes[self.leading()]
    }

    /// Which of the takes that is.
    ///
    /// # Panics
    /// Without a take.
    pub fn leading(&self) -> usize {
        (0..self.takes.len()).rev().max_by_key(|&take| self.takes[take].recording.len()).expect("a film is of something")
    }

    /// Each take with its cursor, at a position of the leading one.
    fn cursors(&self, position: usize) -> Vec<(&Take, Cursor)> {
        let leading = self.leading();
        let cursor = |take: &Take, position: usize| {
            let mut cursor = Cursor::new(take.recording.clone());
            cursor.seek(position);
            cursor
        };
        let lead = cursor(self.lead(), position);
        let seen = lead.state().counts.points_seen;
        let stand = self.standing.get(leading) == Some(&position);
        let at = |number: usize, take: &Take| match self.standing.get(number) {
            Some(&its) if stand => its,
            _ if number == leading => position,
            _ => position_at(&take.recording, seen),
        };
        self.takes.iter().enumerate().map(|(number, take)| (take, cursor(take, at(number, take)))).collect()
    }

    /// What is shown at a position of the leading take.
    pub fn scene(&self, position: usize) -> Scene {
        let cursors = self.cursors(position);
        let views: Vec<(&Take, View<'_>)> = cursors.iter().map(|(take, cursor)| (*take, self.view(cursor))).collect();
        match views.as_slice() {
            [(take, view)] => page(&self.lesson, take, view, self.size),
            views => comparison(&self.lesson, views, self.size),
        }
    }

    fn view<'a>(&self, cursor: &'a Cursor) -> View<'a> {
        View { cursor, hover: None, asking: false, text: self.text }
    }

    /// That as pixels.
    ///
    /// # Errors
    /// [`SizeError`].
    pub fn image(&self, position: usize) -> Result<RgbaImage, SizeError> {
        raster(&self.scene(position), &self.palette, self.scale)
    }

    /// Width and height of its images.
    ///
    /// # Errors
    /// [`SizeError`].
    pub fn pixels(&self) -> Result<[u32; 2], SizeError> {
        pixels(self.size, self.scale)
    }

    /// What happened there: of one take, what its step did; of several, how far each of them is.
    pub fn sentence(&self, position: usize) -> String {
        let cursors = self.cursors(position);
        match cursors.as_slice() {
            [(_, cursor)] => sentence(cursor),
            cursors => {
                let seen = cursors.iter().map(|(_, cursor)| cursor.state().counts.points_seen).max().unwrap_or(0);
                let each = cursors.iter().map(|(take, cursor)| {
                    let counts = cursor.state().counts;
                    let merges = count(counts.merges.into(), "merge", "merges");
                    format!("{} {merges}, {}", take.arrangement.name(), count(counts.candidates.into(), "candidate", "candidates"))
                });
                format!("After {}: {}.", count(seen.into(), "point", "points"), each.collect::<Vec<_>>().join("; "))
            }
        }
    }
}
