//! Query and points that are moved by hand: what is recorded, what to go back to, and what a change is compared with.

use std::time::Duration;

use crate::app::features::lesson::state::draft::LessonDraft;
use crate::app::features::lesson::state::player::Player;
use crate::lesson::touched::Touched;

/// Changes that can be undone.
const MOST: usize = 100;

/// What takes no longer to record is recorded at once: a frame of 60 a second.
const FRAME: Duration = Duration::from_millis(16);

/// What is done to the data of the lesson that is open.
#[derive(Clone, Default)]
pub struct Touch {
    /// What the player shows, as it was typed and moved.
    pub recorded: Option<LessonDraft>,
    /// How long that took to record.
    pub took: Option<Duration>,
    /// The player when the last change began, and what had been moved by then: where it was is kept, and comparators that have
    /// turned since are marked.
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
        if self.done.len() == MOST {
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

    /// What comparators are held against once something else was moved. Another query changes all distances, and what turns
    /// then tells nothing.
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
        for at in 0..2 * MOST {
            touch.begin(moved(at as f32), &player);
        }
        assert_eq!((touch.done.len(), touch.take_back()), (MOST, Some(moved(2.0 * MOST as f32 - 1.0))));
    }
}
