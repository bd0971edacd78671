//! Finding what can be done by a few words: commands, looks, files that were opened lately, lessons.

use std::path::PathBuf;

use crate::app::model::{Action, Command, LessonAction, Look, Mode, State, file_name};
use crate::lesson::lessons::{LESSONS, Lesson};

/// Something that can be found.
#[derive(Clone, Debug)]
pub struct Found {
    /// As it is listed.
    pub text: String,
    /// What it does, as a sentence; of a file, where it lies.
    pub about: String,
    /// What is done when it is chosen.
    pub action: Action,
}

impl Found {
    fn new(text: impl Into<String>, about: impl Into<String>, action: impl Into<Action>) -> Self {
        Self { text: text.into(), about: about.into(), action: action.into() }
    }
}

/// What fits the words, best first: all of them are in its text or its sentence, the rather the earlier in its text. All
/// that can be found, without any.
pub fn find(words: &str, mode: Mode, state: &State) -> Vec<Found> {
    // The finder itself is open already.
    let commands = Command::all().iter().copied().filter(|command| command.mode().is_in(mode) && *command != Command::Find);
    let commands = commands.map(|command| Found::new(command.text(), command.tooltip(), command));
    let look = |look: Look| Found::new(format!("Look: {}", look.text().to_lowercase()), "The colours of the window.", Action::SetLook(look));
    let opened = |path: &PathBuf| Found::new(format!("Open {}", file_name(path)), path.display().to_string(), Action::OpenPath(path.clone()));
    let lesson = |lesson: &Lesson| {
        let text = format!("Lesson {}: {}", lesson.number, lesson.title);
        Found::new(text, "Watch it step by step.", LessonAction::Open(lesson.number))
    };
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let all = commands.chain(Look::ALL.map(look)).chain(state.recent.iter().map(opened)).chain(LESSONS.iter().map(lesson));
    let mut found: Vec<(usize, Found)> = all.filter_map(|entry| Some((worth(&entry, &words)?, entry))).collect();
    found.sort_by_key(|(worth, _)| *worth);
    found.into_iter().map(|(_, entry)| entry).collect()
}

/// Less is better; `None` where a word is nowhere.
fn worth(entry: &Found, words: &[String]) -> Option<usize> {
    let (text, about) = (entry.text.to_lowercase(), entry.about.to_lowercase());
    let of_word = |word: &String| match text.find(word.as_str()) {
        Some(0) => Some(0),
        Some(at) if !text[..at].ends_with(char::is_alphanumeric) => Some(1),
        Some(_) => Some(2),
        None => about.contains(word.as_str()).then_some(8),
    };
    words.iter().map(of_word).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &str, mode: Mode) -> Vec<String> {
        let state = State { recent: vec![PathBuf::from("/data/zip codes.csv")], ..State::default() };
        find(words, mode, &state).into_iter().map(|found| found.text).collect()
    }

    #[test]
    fn words_are_found_wherever_they_stand() {
        assert_eq!(texts("show conv", Mode::Explorer)[0], "Show Convergence");
        assert_eq!(texts("CODES", Mode::Explorer)[0], "Open zip codes.csv");
        assert_eq!(texts("quit", Mode::Explorer)[0], "Quit");
        assert!(texts("lesson 3", Mode::Explorer)[0].starts_with("Lesson 3: "));
        assert!(texts("no such thing", Mode::Explorer).is_empty());
    }

    #[test]
    fn a_word_at_the_beginning_is_worth_more_than_within_or_in_the_sentence() {
        let found = texts("run", Mode::Explorer);
        assert_eq!(found[0], "Run");
        let within = |text: &str| found.iter().position(|found| found == text);
        assert!(within("Run") < within("Next query"), "which says it in its sentence: {found:?}");
    }

    #[test]
    fn only_what_can_be_done_here_is_found() {
        let all = |mode| texts("", mode).len();
        let of_mode = |mode: Mode| Command::all().iter().filter(|command| command.mode().is_in(mode)).count();
        for mode in [Mode::Explorer, Mode::Lesson] {
            assert_eq!(
                all(mode),
                of_mode(mode) - 1 + Look::ALL.len() + 1 + LESSONS.len(),
                "all but the finder itself, the looks, the file, the lessons"
            );
        }
        assert!(!texts("faster", Mode::Explorer).contains(&"Faster".to_owned()));
    }
}
