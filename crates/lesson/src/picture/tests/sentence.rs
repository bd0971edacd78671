//! The panel of the sentence.

use super::super::*;
use super::{takes, texts};

#[test]
fn sentence_panel_shows_the_description() {
    for (_, take) in takes().filter(|(lesson, _)| lesson.id != "order") {
        let mut cursor = Cursor::new(take.recording.clone());
        for position in take.range.start.max(1)..=take.range.end {
            cursor.seek(position);
            // While a question is open, there is no badge below it, and no question of the lesson.
            let scene =
                draw(Panel::Sentence, &View { asking: true, ..View::new(&cursor, 16.0) }, [900.0, 92.0]);
            let said = crate::describe::describe(&cursor.step().unwrap(), cursor.state());
            assert_eq!(texts(&scene).join(" "), said);
        }
    }
}
