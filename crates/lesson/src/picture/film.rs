//! A lesson's moments as pictures of uniform size and palette.

use image::RgbaImage;

use super::motion::MovingScene;
use super::page::{points_seen, position_at};
use super::sentence::sentence;
use super::{Panel, Scene, View, comparison, figure, page};
use crate::cursor::Cursor;
use crate::draw::raster::{SizeError, pixels, raster};
use crate::lessons::{Lesson, Take};
use crate::palette::Palette;
use crate::text::count;

/// Default width and height of a picture in points, for a projector.
pub const SIZE: [f32; 2] = [1280.0, 720.0];

/// Width and height in a handout: smaller, so that text is relatively large in print.
pub const PRINT_SIZE: [f32; 2] = [960.0, 540.0];

/// Height of a picture in lines of running text.
const LINES: f32 = 45.0;

/// Minimum size of running text, in points.
const SMALLEST: f32 = 12.0;

/// The subject and appearance of a series of pictures. One take fills the page; several are side by side,
/// aligned with the leading take by points seen.
#[derive(Clone, Debug)]
pub struct Film {
    /// The lesson that the takes are of.
    pub lesson: Lesson,
    /// At least one take.
    pub takes: Vec<Take>,
    /// Width and height in points.
    pub size: [f32; 2],
    /// The size of running text, in points.
    pub text: f32,
    /// Pixels per point of a picture.
    pub scale: f32,
    /// The colours of the pictures.
    pub palette: Palette,
    /// Whether an animation includes motion between moments.
    pub motion: bool,
    /// The positions at which the user left the takes, used while the leading take is at its position. If
    /// empty, takes are always aligned by points seen.
    pub positions: Vec<usize>,
    /// The panel that fills the page, in a film of one take.
    pub zoom: Option<Panel>,
    /// Seed of the questions that go with the pictures.
    pub seed: u64,
}

impl Film {
    /// Pictures of a given size, with proportional text.
    pub fn new(lesson: &Lesson, takes: Vec<Take>, size: [f32; 2], scale: f32, palette: Palette) -> Self {
        Self {
            lesson: *lesson,
            takes,
            size,
            text: (size[1] / LINES).max(SMALLEST),
            scale,
            palette,
            motion: true,
            positions: Vec::new(),
            zoom: None,
            seed: lesson.seed,
        }
    }

    /// The take whose positions are the time axis: the one with the most steps.
    ///
    /// # Panics
    /// If there are no takes.
    pub fn lead(&self) -> &Take {
        &self.takes[self.leading()]
    }

    /// Index of the leading take.
    ///
    /// # Panics
    /// If there are no takes.
    pub fn leading(&self) -> usize {
        (0..self.takes.len())
            .rev()
            .max_by_key(|&take| self.takes[take].recording.len())
            .expect("a film is of something")
    }

    /// Each take with its cursor, at a position of the leading take.
    fn cursors(&self, position: usize) -> Vec<(&Take, Cursor)> {
        let leading = self.leading();
        let cursor = |take: &Take, position: usize| {
            let mut cursor = Cursor::new(take.recording.clone());
            cursor.seek(position);
            cursor
        };
        let lead = cursor(self.lead(), position);
        let seen = lead.state().counts.points_seen;
        let stand = self.positions.get(leading) == Some(&position);
        let at = |number: usize, take: &Take| match self.positions.get(number) {
            Some(&its) if stand => its,
            _ if number == leading => position,
            _ => position_at(&take.recording, seen),
        };
        self.takes.iter().enumerate().map(|(number, take)| (take, cursor(take, at(number, take)))).collect()
    }

    /// The scene at a position of the leading take.
    pub fn scene(&self, position: usize) -> Scene {
        let cursors = self.cursors(position);
        let views: Vec<(&Take, View<'_>)> =
            cursors.iter().map(|(take, cursor)| (*take, self.view(cursor))).collect();
        match views.as_slice() {
            [(take, view)] => page(&self.lesson, take, view, self.size),
            views => comparison(&self.lesson, views, self.size),
        }
    }

    /// The scene at a position of the leading take, without the texts that are printed below it.
    pub fn figure(&self, position: usize) -> Scene {
        match self.cursors(position).as_slice() {
            [(_, cursor)] => figure(&self.lesson, &self.view(cursor), self.size),
            _ => self.scene(position),
        }
    }

    /// The scene of one take while a question is open, without what gives the answer away.
    pub fn question_scene(&self, take: usize, position: usize) -> Scene {
        let mut cursor = Cursor::new(self.takes[take].recording.clone());
        cursor.seek(position);
        // All panels: a question may be about any of them.
        figure(&self.lesson, &View { asking: true, zoom: None, ..self.view(&cursor) }, self.size)
    }

    fn view<'a>(&self, cursor: &'a Cursor) -> View<'a> {
        // In files, the panels keep their places.
        View { zoom: self.zoom, reveals: false, ..View::new(cursor, self.text) }
    }

    /// The scene at a position, as pixels.
    ///
    /// # Errors
    /// [`SizeError`] if the picture is empty or too large.
    pub fn image(&self, position: usize) -> Result<RgbaImage, SizeError> {
        raster(&self.scene(position), &self.palette, self.scale)
    }

    /// The motion from one position to the next as pixels, at times between 0 and 1; empty if nothing moves.
    ///
    /// # Errors
    /// [`SizeError`] if the picture is empty or too large.
    pub fn images_between(&self, from: usize, to: usize, times: &[f32]) -> Result<Vec<RgbaImage>, SizeError> {
        let Some(moving) = MovingScene::between(&self.scene(from), &self.scene(to)) else {
            return Ok(Vec::new());
        };
        times.iter().map(|&time| raster(&moving.at(time), &self.palette, self.scale)).collect()
    }

    /// Width and height of the images in pixels.
    ///
    /// # Errors
    /// [`SizeError`] if the picture is empty or too large.
    pub fn pixels(&self) -> Result<[u32; 2], SizeError> {
        pixels(self.size, self.scale)
    }

    /// The caption at a position: for one take, its step's sentence; for several, the progress of each.
    pub fn sentence(&self, position: usize) -> String {
        let cursors = self.cursors(position);
        match cursors.as_slice() {
            [(_, cursor)] => sentence(cursor),
            cursors => {
                let seen = points_seen(&cursors.iter().map(|(_, cursor)| cursor).collect::<Vec<_>>());
                let each = cursors.iter().map(|(take, cursor)| {
                    let counts = cursor.state().counts;
                    let merges = count(counts.merges.into(), "merge", "merges");
                    format!(
                        "{} {merges}, {}",
                        take.arrangement.name(),
                        count(counts.candidates.into(), "candidate", "candidates")
                    )
                });
                format!("After {seen} points: {}.", each.collect::<Vec<_>>().join("; "))
            }
        }
    }
}
