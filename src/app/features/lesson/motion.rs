//! The motion of what a step forward moved, over a picture that does not change meanwhile.

use egui::Painter;

use crate::app::features::lesson::paint::{Place, Prepared};
use crate::lesson::picture::Scene;
use crate::lesson::picture::motion::{Moving, SECONDS};
use crate::palette::Palette;

/// A motion that would be shorter, in seconds, is left out: it would only flicker.
const SHORTEST: f64 = 0.1;

/// How much of the time between two steps a motion takes at most, while the player goes on by itself.
const SHARE: f64 = 0.6;

/// How long a motion takes, in seconds; `None` if there is none. `pace` is the steps per second while the player goes on by itself.
pub fn length(reduced: bool, pace: Option<f32>) -> Option<f64> {
    let most = pace.map_or(f64::INFINITY, |pace| SHARE / f64::from(pace));
    let seconds = f64::from(SECONDS).min(most);
    (!reduced && seconds >= SHORTEST).then_some(seconds)
}

/// A motion under way. It is over after its length, or as soon as another moment is shown.
pub struct Running {
    /// What was shown before the step.
    before: Scene,
    moving: Moving,
    still: Prepared,
    /// On the window's clock, in seconds.
    began: f64,
    seconds: f64,
}

impl Running {
    /// From one scene to the next; `None` if nothing moves.
    pub fn new(before: Scene, after: &Scene, palette: &Palette, place: Place, began: f64, seconds: f64) -> Option<Self> {
        let moving = Moving::between(&before, after)?;
        let still = Prepared::new(moving.still(), palette, place);
        Some(Self { before, moving, still, began, seconds })
    }

    /// The same motion, where the scene that is reached is drawn anew.
    pub fn anew(self, after: &Scene, palette: &Palette, place: Place) -> Option<Self> {
        Self::new(self.before, after, palette, place, self.began, self.seconds)
    }

    /// Whether all is where it belongs.
    pub fn is_over(&self, now: f64) -> bool {
        now - self.began >= self.seconds
    }

    /// Paints the scene as it is now.
    pub fn paint(&self, painter: &Painter, palette: &Palette, place: Place, now: f64) {
        self.still.paint(painter);
        let parts = self.moving.parts(((now - self.began) / self.seconds) as f32);
        Prepared::new(&parts, palette, place).paint(painter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn motions_are_shorter_or_left_out_where_steps_follow_fast() {
        assert_eq!(length(false, None), Some(0.25));
        assert_eq!(length(false, Some(2.0)), Some(0.25));
        let fast = length(false, Some(4.0)).expect("there is time for it");
        assert!((fast - 0.15).abs() < 1e-6, "{fast}");
        assert_eq!((length(false, Some(8.0)), length(false, Some(32.0))), (None, None));
        assert_eq!((length(true, None), length(true, Some(0.25))), (None, None));
    }
}
