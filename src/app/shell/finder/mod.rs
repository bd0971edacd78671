//! Finding what can be done by a few words: commands, files, what fields and choosers of the window offer ([`choices`]), and
//! what is typed out in full: a path, or k ([`typed`]).

mod choices;
mod typed;

use crate::app::model::{Action, Command, Mode, Session, State};

/// Something that can be found.
#[derive(Clone, Debug)]
pub struct Found {
    /// As it is listed.
    pub text: String,
    /// What it does, as a sentence; of a file, where it lies; of what cannot be done, why.
    pub about: String,
    /// What is done when it is chosen; `None` where that cannot be done.
    pub action: Option<Action>,
}

impl Found {
    fn new(text: impl Into<String>, about: impl Into<String>, action: impl Into<Action>) -> Self {
        Self { text: text.into(), about: about.into(), action: Some(action.into()) }
    }

    /// What cannot be done, and why.
    fn refused(text: impl Into<String>, why: impl Into<String>) -> Self {
        Self { text: text.into(), about: why.into(), action: None }
    }
}

/// What fits the words, best first: what they spell out, then everything in whose text or sentence all of them are, the rather
/// the earlier in its text. Without any, all that does not depend on the cloud's columns, which may be thousands.
pub fn find(words: &str, mode: Mode, state: &State, session: &Session) -> Vec<Found> {
    // The finder itself is open already.
    let commands = Command::all().iter().copied().filter(|command| command.mode().is_in(mode) && *command != Command::Find);
    let mut all: Vec<Found> = commands.map(|command| Found::new(command.text(), command.tooltip(), command)).collect();
    all.extend(choices::everywhere(state));
    let spelled = typed::spelled(words, mode, state);
    let words: Vec<String> = words.split_whitespace().map(british).collect();
    let mut rows = Vec::new();
    if mode.is_in(Mode::Explorer) {
        all.extend(choices::of_search(state, session));
        if !words.is_empty() {
            all.extend(choices::of_columns(state, session));
            rows.extend(choices::of_rows(session));
        }
    }
    // What the window can do comes before a place that happens to be called so.
    let all = all.into_iter().map(|entry| (0, entry)).chain(rows.into_iter().map(|row| (BEHIND, row)));
    let mut found: Vec<(usize, Found)> = all.filter_map(|(behind, entry)| Some((behind + worth(&entry, &words)?, entry))).collect();
    found.sort_by_key(|(worth, _)| *worth);
    // A bare number is k only where no row is called so.
    let is_number = words.iter().all(|word| word.parse::<u64>().is_ok());
    let (named, found): (Vec<_>, Vec<_>) = found.into_iter().partition(|(worth, _)| is_number && *worth == BEHIND);
    let order = |found: Vec<(usize, Found)>| found.into_iter().map(|(_, entry)| entry);
    order(named).chain(spelled).chain(order(found)).collect()
}

/// How far rows are behind what begins with a word: as far as a word within another.
const BEHIND: usize = 4;

/// A word as the window spells it.
fn british(word: &str) -> String {
    word.to_lowercase().replace("color", "colour").replace("neighbor", "neighbour")
}

/// Less is better; `None` where a word is nowhere.
fn worth(entry: &Found, words: &[String]) -> Option<usize> {
    let (text, about) = (british(&entry.text), british(&entry.about));
    // Of a name and a longer one that begins with it, the name is meant.
    let goes_on = |end: usize| text[end..].starts_with(|c: char| c.is_alphanumeric() || c == '-');
    let of_word = |word: &String| match text.find(word.as_str()) {
        Some(0) => Some(usize::from(goes_on(word.len()))),
        Some(at) if !text[..at].ends_with(char::is_alphanumeric) => Some(2 + usize::from(goes_on(at + word.len()))),
        Some(_) => Some(4),
        None => about.contains(word.as_str()).then_some(16),
    };
    words.iter().map(of_word).sum()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::app::features::color::state::view::{ColorAction, ColorBy};
    use crate::app::model::{FileColumns, Look, SAMPLES};
    use crate::app::testing::{cloud, record};
    use crate::cloud::Source;
    use crate::cloud::formats::{ColumnInfo, ColumnKind};
    use crate::engines::registry;
    use crate::lesson::lessons::LESSONS;

    fn state() -> State {
        State { recent: vec![PathBuf::from("/data/zip codes.csv")], ..State::default() }
    }

    fn with(words: &str, session: &Session) -> Vec<Found> {
        find(words, Mode::Explorer, &state(), session)
    }

    fn texts(words: &str, mode: Mode) -> Vec<String> {
        find(words, mode, &state(), &Session::default()).into_iter().map(|found| found.text).collect()
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
        let everywhere = Look::ALL.len() + 2 + LESSONS.len() + SAMPLES.len() + choices::SCALES.len();
        assert_eq!(
            all(Mode::Lesson),
            of_mode(Mode::Lesson) - 1 + everywhere,
            "all but the finder itself, looks, motion, the file, lessons, samples, scales"
        );
        let of_search = 3 + registry::ENGINES.len() + ColorBy::all().len() - 2;
        assert_eq!(
            all(Mode::Explorer),
            of_mode(Mode::Explorer) - 1 + everywhere + of_search,
            "and switches, engines, and colours that need no column"
        );
        assert!(!texts("faster", Mode::Explorer).contains(&"Faster".to_owned()));
        assert!(texts("k 64", Mode::Lesson).is_empty());
    }

    #[test]
    fn k_is_set_by_its_number() {
        for words in ["k 64", "k=64", " K = 64 ", "k64", "64", "64 neighbours", "neighbors 64"] {
            let found = texts(words, Mode::Explorer);
            assert_eq!(found[0], "k = 64", "{words}");
        }
        let found = with("k 64", &Session::default());
        assert!(matches!(&found[0].action, Some(Action::SetDraft(draft)) if draft.k == "64"));
        for words in ["k 0", "k 5000000000"] {
            let found = with(words, &Session::default());
            assert!(found[0].action.is_none() && found[0].about.contains("1 to 4,294,967,295"), "{words}: {}", found[0].about);
        }
    }

    #[test]
    fn a_path_is_opened_as_it_is_typed_or_pasted() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("two words.csv");
        std::fs::write(&path, "x,y\n1,2\n").expect("a file");
        let shown = path.display().to_string();
        for words in [shown.clone(), format!("'{shown}'"), format!("\"{shown}\" "), format!("file://{}", shown.replace(' ', "%20"))] {
            let found = with(&words, &Session::default());
            assert!(matches!(&found[0].action, Some(Action::OpenPath(opened)) if *opened == path), "{words}: {:?}", found.first());
        }
        let relative = typed::path_in(folder.path(), "two words.csv").expect("it is there");
        assert!(relative.action.is_some(), "from the folder in which the program was started");
        assert!(typed::path_in(folder.path(), "three words.csv").is_none(), "a few words are no path, unless a file has that name");
        let missing = typed::path_in(folder.path(), "./three.csv").expect("it can be nothing else");
        assert!(missing.action.is_none() && missing.about.contains("three.csv"), "{}", missing.about);
        assert!(typed::path_in(folder.path(), ".").is_none_or(|found| found.action.is_none()), "a folder is no file");
    }

    #[test]
    fn switches_are_found() {
        let found = with("profile", &Session::default());
        assert_eq!(found[0].text, "Profile: turn on");
        assert!(matches!(&found[0].action, Some(Action::SetDraft(draft)) if draft.profile));
    }

    #[test]
    fn engines_scales_and_samples_are_found_by_their_names() {
        for engine in registry::ENGINES {
            let found = with(&format!("engine {}", engine.id), &Session::default());
            assert!(matches!(&found[0].action, Some(Action::SetDraft(draft)) if draft.engine.to_string() == engine.id.as_str()), "{}", engine.id);
        }
        let found = with("engine auto", &Session::default());
        assert!(matches!(&found[0].action, Some(Action::SetDraft(draft)) if draft.engine.to_string() == "auto"));
        let found = with("150 %", &Session::default());
        assert!(matches!(found[0].action, Some(Action::SetScale(scale)) if scale == 1.5));
        let found = with("swiss", &Session::default());
        assert!(matches!(found[0].action, Some(Action::OpenSample(_))));
    }

    #[test]
    fn colours_and_axes_are_found_by_the_columns() {
        let record = record();
        let session = Session { cloud: Some(cloud(20, 3, 1)), record: Some(record), ..Session::default() };
        let last = session.cloud.as_ref().expect("a cloud").axes()[2].name.clone();
        let by = |words: &str, session: &Session| match with(words, session).into_iter().next().and_then(|found| found.action) {
            Some(Action::Color(ColorAction::Set(view))) => view.by,
            other => panic!("{words}: {other:?}"),
        };
        assert_eq!(by("color by merges", &session), ColorBy::measure("merges"));
        assert_eq!(by("colour distance", &session), ColorBy::Distance);
        assert_eq!(by(&format!("colour axis {last}"), &session), ColorBy::Axis(2));
        let found = with(&format!("plane right {last}"), &session);
        assert!(matches!(&found[0].action, Some(Action::SetPlane(view)) if view.axes == [2, 1] && view.window.is_none()), "{found:?}");
        let found = with(&format!("space z {last}"), &session);
        assert!(found.iter().any(|found| matches!(&found.action, Some(Action::SetSpace(view)) if view.axes[2] == 2)));

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "x,y,state\n0,1,TX\n1,2,CA\n").expect("a file");
        let source = Source::File { path: path.clone(), columns: Default::default() };
        let cloud = crate::cloud::load(&source, false, &crate::progress::Silent).expect("a cloud");
        let column = |name: &str, kind| ColumnInfo {
            made_up: false,
            role: crate::cloud::roles::Role::Coordinate,
            name: name.to_owned(),
            kind,
            min: None,
            max: None,
            missing: 0,
            infinite: 0,
            example: None,
            example_record: None,
            moment: None,
        };
        let columns = vec![column("x", ColumnKind::Numeric), column("y", ColumnKind::Numeric), column("state", ColumnKind::Text)];
        let session = Session { cloud: Some(cloud.into()), columns: Some(FileColumns { path, columns }), ..Session::default() };
        assert_eq!(by("colour state", &session), ColorBy::Column("state".to_owned()));
    }
}
