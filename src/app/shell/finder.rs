//! Search by a few words: commands, files, options of fields and menus, and text taken literally: a path, or
//! k.

use std::path::{Path, PathBuf};

use crate::app::features::color::column_keys;
use crate::app::features::color::state::{ColorAction, ColorBy, ColorView};
use crate::app::features::lesson::state::LessonAction;
use crate::app::model::{Draft, Mode, PlaneView, SAMPLES, Sample, SpaceView, Theme, file_name, folded};
use crate::app::prelude::*;
use crate::cloud::formats::file_of;
use crate::engines::registry;
use crate::knn::Descriptor;
use crate::lesson::lessons::{LESSONS, Lesson};
use crate::run::{EngineChoice, recording};
use crate::text;

/// An entry of the finder.
#[derive(Clone, Debug)]
pub struct CommandPaletteEntry {
    pub text: String,
    /// What it does, as a sentence; for a file, its folder; for an unavailable action, why.
    pub about: String,
    /// `None` if the action is unavailable.
    pub action: Option<Action>,
}

impl CommandPaletteEntry {
    fn new(text: impl Into<String>, about: impl Into<String>, action: impl Into<Action>) -> Self {
        Self { text: text.into(), about: about.into(), action: Some(action.into()) }
    }

    /// An unavailable action, and why.
    fn refused(text: impl Into<String>, why: impl Into<String>) -> Self {
        Self { text: text.into(), about: why.into(), action: None }
    }
}

/// The matches, best first: literal interpretations, then entries whose text or sentence contains all words,
/// ranked by position. Without words, all entries except columns, which may be thousands.
pub fn find(words: &str, mode: Mode, state: &State, session: &Session) -> Vec<CommandPaletteEntry> {
    let commands = Command::all()
        .iter()
        .copied()
        .filter(|command| command.mode().is_in(mode) && *command != Command::Find);
    let mut all: Vec<CommandPaletteEntry> = commands
        .map(|command| CommandPaletteEntry::new(command.text(), command.tooltip(), command))
        .collect();
    all.extend(general_entries(state, session));
    let literal_entries = literal_entries(words, mode, state, session);
    let words: Vec<String> = words.split_whitespace().map(british).collect();
    let mut rows = Vec::new();
    if mode.is_in(Mode::Explorer) {
        all.extend(search_entries(state, session));
        if !words.is_empty() {
            all.extend(column_entries(state, session));
            rows.extend(row_entries(session));
        }
    }
    // Commands rank before rows that happen to match.
    let all = all.into_iter().map(|entry| (0, entry)).chain(rows.into_iter().map(|row| (ROW_PENALTY, row)));
    let mut found: Vec<(usize, CommandPaletteEntry)> =
        all.filter_map(|(behind, entry)| Some((behind + rank(&entry, &words)?, entry))).collect();
    found.sort_by_key(|(rank, _)| *rank);
    // A bare number means k unless a row has it as its name.
    let is_number = words.iter().all(|word| word.parse::<u64>().is_ok());
    let (named, found): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|(rank, _)| is_number && *rank == ROW_PENALTY);
    let order = |found: Vec<(usize, CommandPaletteEntry)>| found.into_iter().map(|(_, entry)| entry);
    order(named).chain(literal_entries).chain(order(found)).collect()
}

/// Penalty of rows, equal to that of a match inside a word.
const ROW_PENALTY: usize = 4;

/// Normalises to British spelling, as used in the window, without case and accents.
fn british(word: &str) -> String {
    folded(word).replace("color", "colour").replace("neighbor", "neighbour")
}

/// Rank of a match, lower is better; `None` if a word does not occur.
fn rank(entry: &CommandPaletteEntry, words: &[String]) -> Option<usize> {
    let (text, about) = (british(&entry.text), british(&entry.about));
    // Whether the match is only the beginning of a longer name.
    let goes_on = |end: usize| text[end..].starts_with(|c: char| c.is_alphanumeric() || c == '-');
    let of_word = |word: &String| match text.find(word.as_str()) {
        Some(0) => Some(usize::from(goes_on(word.len()))),
        Some(at) if !text[..at].ends_with(char::is_alphanumeric) => {
            Some(2 + usize::from(goes_on(at + word.len())))
        }
        Some(_) => Some(4),
        None => about.contains(word.as_str()).then_some(16),
    };
    words.iter().map(of_word).sum()
}

// Options of fields, choosers and menus.

/// UI scales that menus offer.
pub const SCALES: [f32; 7] = [0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0];

/// Looks, scales, motion, recent files, samples and lessons.
pub fn general_entries(state: &State, session: &Session) -> impl Iterator<Item = CommandPaletteEntry> {
    let look = |look: Theme| {
        CommandPaletteEntry::new(
            format!("Look: {}", look.text().to_lowercase()),
            "The colours of the window.",
            Action::SetLook(look),
        )
    };
    let scale = |scale: f32| {
        CommandPaletteEntry::new(
            format!("Scale {:.0} %", scale * 100.0),
            "The size of all text and controls.",
            Action::SetScale(scale),
        )
    };
    let motion = match state.reduces_motion(session.system_reduces_motion) {
        true => CommandPaletteEntry::new(
            "Motion: as usual",
            "In a lesson, keys move to their new places.",
            Action::ReduceMotion(false),
        ),
        false => CommandPaletteEntry::new(
            "Reduce motion",
            "Changes are shown at once.",
            Action::ReduceMotion(true),
        ),
    };
    let opened = |path: &PathBuf| {
        CommandPaletteEntry::new(
            format!("Open {}", file_name(path)),
            path.display().to_string(),
            Action::OpenPath(path.clone()),
        )
    };
    let sample = |sample: &'static Sample| {
        CommandPaletteEntry::new(
            format!("Open the sample {}", sample.title),
            sample.about,
            Action::OpenSample(sample),
        )
    };
    let lesson = |lesson: &Lesson| {
        let text = format!("Lesson {}: {}", lesson.number, lesson.title);
        CommandPaletteEntry::new(text, "Watch it step by step.", LessonAction::Open(lesson.number))
    };
    let recent = state.recent.iter().map(opened);
    Theme::ALL
        .into_iter()
        .map(look)
        .chain(SCALES.into_iter().map(scale))
        .chain([motion])
        .chain(recent)
        .chain(SAMPLES.iter().map(sample))
        .chain(LESSONS.iter().map(lesson))
}

/// Search settings, engines, and colours that need no column.
pub fn search_entries<'a>(
    state: &'a State,
    session: &'a Session,
) -> impl Iterator<Item = CommandPaletteEntry> + 'a {
    let draft = |change: &dyn Fn(&mut Draft)| {
        let mut draft = state.draft.clone();
        change(&mut draft);
        Action::SetDraft(Box::new(draft))
    };
    let auto = CommandPaletteEntry::new(
        "Engine: auto",
        "Chosen for each run by the time that it should take.",
        draft(&|draft| (draft.engine, draft.device) = (EngineChoice::Auto, None)),
    );
    let engine = move |engine: &&'static Descriptor| {
        let missing =
            session.engine(engine.id, None).and_then(|status| status.device.as_ref()?.as_ref().err());
        let about = missing.map_or_else(
            || engine.about.to_owned(),
            |why| format!("{} Not here: {}.", engine.about, why.trim_end_matches('.')),
        );
        CommandPaletteEntry::new(
            format!("Engine: {}", engine.id),
            about,
            draft(&|draft| draft.choose_engine(engine)),
        )
    };
    let plain = ColorBy::all().into_iter().filter(|by| !matches!(by, ColorBy::Axis(_) | ColorBy::Column(_)));
    let colors = plain.map(move |by| {
        let (text, about) = (format!("Colour by {}", by.text()), by.about());
        CommandPaletteEntry::new(text, about, color_by(state, by))
    });
    let switch = |name: &str, about: &str, on: bool, change: &dyn Fn(&mut Draft)| {
        CommandPaletteEntry::new(
            format!("{name}: turn {}", if on { "off" } else { "on" }),
            about,
            draft(change),
        )
    };
    let switches = [
        switch(
            "Profile",
            "Run the search once more, with clocks: what takes how long, and where and when.",
            state.draft.profile,
            &|draft| draft.profile ^= true,
        ),
        switch(
            "Don't count the point itself",
            "Leave the query’s own row out of its neighbours.",
            state.draft.exclude_self,
            &|draft| draft.exclude_self ^= true,
        ),
    ];
    switches
        .into_iter()
        .chain(std::iter::once(auto))
        .chain(registry::ENGINES.iter().map(engine))
        .chain(colors)
}

/// Colouring by column, and columns as axes of Plane and Space.
pub fn column_entries<'a>(
    state: &'a State,
    session: &'a Session,
) -> impl Iterator<Item = CommandPaletteEntry> + 'a {
    let axes = session.cloud.iter().flat_map(|cloud| cloud.axes().iter().enumerate());
    let axes = axes.map(|(at, axis)| {
        CommandPaletteEntry::new(
            format!("Colour by axis {}", axis.name),
            ColorBy::Axis(at).about(),
            color_by(state, ColorBy::Axis(at)),
        )
    });
    let columns = session
        .file_columns()
        .into_iter()
        .flat_map(|known| column_keys(known.columns.iter().map(|column| column.name.as_str())));
    let columns = columns.map(move |(name, key)| {
        let name = if name.is_empty() { format!("column {key}") } else { name.to_owned() };
        let by = ColorBy::Column(key);
        CommandPaletteEntry::new(format!("Colour by {name}"), by.about(), color_by(state, by))
    });
    columns.chain(axes).chain(shown_along(state, session))
}

/// Rows by name, among the names loaded and searched so far. Equal names are followed by coordinates and, if
/// these are equal too or many, by the row's number.
pub fn row_entries(session: &Session) -> impl Iterator<Item = CommandPaletteEntry> + '_ {
    const MAX_DIMS: usize = 3;
    session.row_names.iter().flat_map(|names| {
        let (cloud, rows) = (&names.cloud, session.name_search.rows());
        let record = |row: u32| text::thousands(cloud.record(row as usize));
        let coordinates = |row: u32| -> String {
            let value = |axis: usize| text::coordinate(cloud.coordinate(row as usize, axis));
            let axes = cloud.axes().iter().enumerate().filter(|_| cloud.dims() <= MAX_DIMS);
            axes.map(|(at, axis)| format!(", {} {}", axis.name, value(at))).collect()
        };
        let number = |row: u32| format!(", row {}", record(row));
        let mut texts: Vec<String> = rows.iter().map(|&row| names.full_name(row)).collect();
        for more in [&coordinates as &dyn Fn(u32) -> String, &number] {
            let before = texts.clone();
            for (text, &row) in texts.iter_mut().zip(&rows) {
                if before.iter().filter(|other| *other == text).count() > 1 {
                    text.push_str(&more(row));
                }
            }
        }
        let entry = |(text, row): (String, u32)| {
            let about = format!("Row {}: find its neighbours.", record(row));
            CommandPaletteEntry::new(text, about, Action::PickRow(row))
        };
        texts.into_iter().zip(rows).map(entry).collect::<Vec<_>>()
    })
}

/// Axes of Plane and Space: columns of the cloud, or directions of its projection.
fn shown_along<'a>(state: &'a State, session: &'a Session) -> impl Iterator<Item = CommandPaletteEntry> + 'a {
    let names: Vec<String> = session
        .scene()
        .iter()
        .flat_map(|scene| scene.data().axes().iter().map(|axis| axis.name.clone()))
        .collect();
    let space = names.len() >= 3;
    let places =
        [("Plane", "right", 0), ("Plane", "up", 1), ("Space", "x", 0), ("Space", "y", 1), ("Space", "z", 2)];
    let places = places.into_iter().filter(move |(pane, ..)| space || *pane == "Plane");
    places.flat_map(move |(pane, axis, place)| {
        let entry = move |(at, name): (usize, &String)| {
            let action = if pane == "Plane" {
                plane_along(state.plane, place, at)
            } else {
                space_along(state.space, place, at)
            };
            CommandPaletteEntry::new(
                format!("{pane}, {axis}: {name}"),
                format!("Put {name} on this axis of {pane}."),
                action,
            )
        };
        names.iter().enumerate().map(entry).collect::<Vec<_>>()
    })
}

fn plane_along(mut view: PlaneView, place: usize, axis: usize) -> Action {
    // The zoom window was for the previous axis.
    (view.axes[place], view.window) = (axis, None);
    Action::SetPlane(view)
}

fn space_along(mut view: SpaceView, place: usize, axis: usize) -> Action {
    view.axes[place] = axis;
    Action::SetSpace(view)
}

fn color_by(state: &State, by: ColorBy) -> ColorAction {
    let mut view: ColorView = state.color.clone();
    view.choose(by);
    ColorAction::Set(view)
}

// Literal interpretations: a path, or a value of k.

pub fn literal_entries(
    words: &str,
    mode: Mode,
    state: &State,
    session: &Session,
) -> Vec<CommandPaletteEntry> {
    let here = std::env::current_dir().unwrap_or_default();
    let k = k(words, state, session).filter(|_| mode.is_in(Mode::Explorer));
    k.into_iter().flatten().chain(path_in(&here, words)).collect()
}

/// `k 64`, `k=64`, `64`, `64 neighbours`. Above the engine's limit, another entry changes the engine too.
fn k(words: &str, state: &State, session: &Session) -> Option<Vec<CommandPaletteEntry>> {
    let words = british(words.trim());
    let number = words.strip_prefix('k').unwrap_or(&words).trim_start().trim_start_matches('=');
    let number = number.trim().trim_start_matches("neighbours").trim_end_matches("neighbours").trim();
    let k: u64 = number.parse().ok()?;
    let set = |text: String, draft: Draft| {
        let points = session.cloud.as_ref().map(|cloud| cloud.len() as u64).filter(|&points| points < k);
        let about = points.map_or_else(
            || "Set the number of neighbours.".to_owned(),
            |points| {
                let points = text::count(points, "point", "points");
                format!("Set the number of neighbours; the data has only {points}.")
            },
        );
        CommandPaletteEntry::new(text, about, Action::SetDraft(Box::new(draft)))
    };
    let draft = Draft { k: k.to_string(), ..state.draft.clone() };
    let text = format!("k = {}", text::thousands(k));
    let fits = |draft: &Draft| (1..=draft.max_k() as u64).contains(&k);
    if fits(&draft) {
        return Some(vec![set(text, draft)]);
    }
    let most = text::thousands(draft.max_k() as u64);
    let engine = &draft.engine;
    let refused = CommandPaletteEntry::refused(
        format!("{text}: must be between 1 and {most}"),
        format!("With engine {engine}, k must be between 1 and {most}."),
    );
    let auto = Draft { engine: EngineChoice::Auto, device: None, ..draft.clone() };
    let other = fits(&auto).then(|| set(format!("{text}, with engine auto"), auto));
    Some([refused].into_iter().chain(other).collect())
}

/// A typed or pasted path, relative to a folder; `None` if the words are not a path.
pub fn path_in(folder: &Path, words: &str) -> Option<CommandPaletteEntry> {
    let typed = unquoted(words)?;
    let path = match typed.strip_prefix("~/").zip(std::env::home_dir()) {
        Some((rest, home)) => home.join(rest),
        None => folder.join(&typed),
    };
    let file = recording::split_run(&path).map_or_else(|| file_of(&path), |(file, _)| file);
    if file.is_file() {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        return Some(CommandPaletteEntry::new(
            format!("Open {name}"),
            path.display().to_string(),
            Action::OpenPath(path),
        ));
    }
    // A few words that match no file are not reported as a missing file.
    let looks_like_one = typed.contains('/') || (cfg!(windows) && typed.contains('\\'));
    looks_like_one.then(|| {
        let why = if file.is_dir() { "That is a folder; name a file in it" } else { "There is no such file" };
        CommandPaletteEntry::refused(format!("Open {typed}"), format!("{why}: {}", file.display()))
    })
}

/// Strips quotes or the URL scheme of a path from a shell or file manager.
fn unquoted(words: &str) -> Option<String> {
    let words = words.trim();
    let bare =
        ['\'', '"'].iter().find_map(|&quote| words.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(words);
    let path = bare.strip_prefix("file://").map_or_else(|| bare.to_owned(), decoded);
    (!path.is_empty()).then_some(path)
}

/// Decodes percent-encoding.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::features::row_names::state::{NameSearch, RowNames};
    use crate::app::model::FileColumns;
    use crate::app::testing::{cloud, file_in, folder, record};
    use crate::cloud::Source;
    use crate::cloud::formats::{ColumnInfo, ColumnKind};

    fn state() -> State {
        State { recent: vec![PathBuf::from("/data/zip codes.csv")], ..State::default() }
    }

    fn with(words: &str, session: &Session) -> Vec<CommandPaletteEntry> {
        find(words, Mode::Explorer, &state(), session)
    }

    fn texts(words: &str, mode: Mode) -> Vec<String> {
        find(words, mode, &state(), &Session::default()).into_iter().map(|found| found.text).collect()
    }

    #[test]
    fn words_match_in_any_position() {
        assert_eq!(texts("show conv", Mode::Explorer)[0], "Show Convergence");
        assert_eq!(texts("CODES", Mode::Explorer)[0], "Open zip codes.csv");
        assert_eq!(texts("quit", Mode::Explorer)[0], "Quit");
        assert!(texts("lesson 3", Mode::Explorer)[0].starts_with("Lesson 3: "));
        assert!(texts("no such thing", Mode::Explorer).is_empty());
    }

    #[test]
    fn prefix_matches_rank_above_inner_and_tooltip_matches() {
        let found = texts("run", Mode::Explorer);
        assert_eq!(found[0], "Run");
        let within = |text: &str| found.iter().position(|found| found == text);
        assert!(within("Run") < within("Next query"), "which has the word in its tooltip: {found:?}");
    }

    #[test]
    fn only_available_commands_are_found() {
        let all = |mode| texts("", mode).len();
        let of_mode = |mode: Mode| Command::all().iter().filter(|command| command.mode().is_in(mode)).count();
        let general_entries = Theme::ALL.len() + 2 + LESSONS.len() + SAMPLES.len() + SCALES.len();
        assert_eq!(
            all(Mode::Lesson),
            of_mode(Mode::Lesson) - 1 + general_entries,
            "commands except the finder, plus looks, motion, recent files, lessons, samples and scales"
        );
        let search_entries = 3 + registry::ENGINES.len() + ColorBy::all().len() - 2;
        assert_eq!(
            all(Mode::Explorer),
            of_mode(Mode::Explorer) - 1 + general_entries + search_entries,
            "and settings, engines, and colours without columns"
        );
        assert!(!texts("faster", Mode::Explorer).contains(&"Faster".to_owned()));
        assert!(texts("k 64", Mode::Lesson).is_empty());
    }

    #[test]
    fn k_can_be_typed_in_several_forms() {
        for words in ["k 64", "k=64", " K = 64 ", "k64", "64", "64 neighbours", "neighbors 64"] {
            let found = texts(words, Mode::Explorer);
            assert_eq!(found[0], "k = 64", "{words}");
        }
        let found = with("k 64", &Session::default());
        assert!(matches!(&found[0].action, Some(Action::SetDraft(draft)) if draft.k == "64"));
        for words in ["k 0", "k 5000000000"] {
            let found = with(words, &Session::default());
            assert!(
                found[0].action.is_none() && found[0].text.ends_with("must be between 1 and 4,294,967,295"),
                "{words}: {}",
                found[0].text
            );
        }
    }

    #[test]
    fn a_k_above_the_engines_limit_is_offered_with_another_engine() {
        let limited =
            registry::ENGINES.iter().find(|engine| engine.limits.k < 5000).expect("an engine with a limit");
        let mut state = state();
        state.draft.choose_engine(limited);
        let found = find("k 5000", Mode::Explorer, &state, &Session::default());
        assert_eq!(found[1].text, "k = 5,000, with engine auto");
        assert!(
            matches!(&found[1].action, Some(Action::SetDraft(draft)) if draft.k == "5000" && draft.max_k() >= 5000)
        );
        let most = text::thousands(limited.limits.k as u64);
        assert_eq!(found[0].text, format!("k = 5,000: must be between 1 and {most}"));
        assert!(found[0].about.contains(limited.id.as_str()) && found[0].action.is_none());
        let session = Session { cloud: Some(cloud(20, 2, 1)), ..Session::default() };
        assert_eq!(
            with("k 64", &session)[0].about,
            "Set the number of neighbours; the data has only 20 points."
        );
    }

    #[test]
    fn rows_of_the_same_name_are_told_apart() {
        let names = RowNames::new(cloud(4, 2, 1), [Some("city".to_owned()), Some("state".to_owned())]);
        names.push(
            [["Springfield", "IL"], ["Springfield", "MO"], ["Zürich", ""], ["Springfield", "MO"]].into_iter(),
        );
        names.end(None);
        let search = NameSearch::new("springfield");
        while search.search_next(&names).is_some() {}
        let place = |row: usize| text::coordinate(names.cloud.coordinate(row, 0));
        let expected =
            [1, 3].map(|row| format!("Springfield, MO, {} {}, ", names.cloud.axes()[0].name, place(row)));
        let session = Session { row_names: Some(Arc::new(names)), name_search: search, ..Session::default() };
        let found: Vec<String> = row_entries(&session).map(|entry| entry.text).collect();
        assert_eq!(found[0], "Springfield, IL");
        assert!(found[1].starts_with(&expected[0]) && found[2].starts_with(&expected[1]), "{found:?}");
    }

    #[test]
    fn typed_and_pasted_paths_can_be_opened() {
        let folder = folder();
        let path = file_in(&folder, "two words.csv", "x,y\n1,2\n");
        let shown = path.display().to_string();
        for words in [
            shown.clone(),
            format!("'{shown}'"),
            format!("\"{shown}\" "),
            format!("file://{}", shown.replace(' ', "%20")),
        ] {
            let found = with(&words, &Session::default());
            assert!(
                matches!(&found[0].action, Some(Action::OpenPath(opened)) if *opened == path),
                "{words}: {:?}",
                found.first()
            );
        }
        let relative = path_in(folder.path(), "two words.csv").expect("it is there");
        assert!(relative.action.is_some(), "relative to the working directory");
        assert!(
            path_in(folder.path(), "three words.csv").is_none(),
            "words are a path only if such a file exists"
        );
        let missing = path_in(folder.path(), "./three.csv").expect("only a path starts like this");
        assert!(missing.action.is_none() && missing.about.contains("three.csv"), "{}", missing.about);
        assert!(
            path_in(folder.path(), ".").is_none_or(|found| found.action.is_none()),
            "folders cannot be opened"
        );
    }

    #[test]
    fn toggle_settings_are_found() {
        let found = with("profile", &Session::default());
        assert_eq!(found[0].text, "Profile: turn on");
        assert!(matches!(&found[0].action, Some(Action::SetDraft(draft)) if draft.profile));
    }

    #[test]
    fn engines_scales_and_samples_are_found_by_name() {
        for engine in registry::ENGINES {
            let found = with(&format!("engine {}", engine.id), &Session::default());
            assert!(
                matches!(
                    &found[0].action,
                    Some(Action::SetDraft(draft)) if draft.engine.to_string() == engine.id.as_str()
                ),
                "{}",
                engine.id
            );
        }
        let found = with("engine auto", &Session::default());
        assert!(
            matches!(&found[0].action, Some(Action::SetDraft(draft)) if draft.engine.to_string() == "auto")
        );
        let found = with("150 %", &Session::default());
        assert!(matches!(found[0].action, Some(Action::SetScale(scale)) if scale == 1.5));
        let found = with("swiss", &Session::default());
        assert!(matches!(found[0].action, Some(Action::OpenSample(_))));
    }

    #[test]
    fn colours_and_axes_are_found_by_column_name() {
        let record = record();
        let session = Session { cloud: Some(cloud(20, 3, 1)), record: Some(record), ..Session::default() };
        let last = session.cloud.as_ref().expect("a cloud").axes()[2].name.clone();
        let by = |words: &str, session: &Session| match with(words, session)
            .into_iter()
            .next()
            .and_then(|found| found.action)
        {
            Some(Action::Color(ColorAction::Set(view))) => view.by,
            other => panic!("{words}: {other:?}"),
        };
        assert_eq!(by("color by merges", &session), ColorBy::measure("merges"));
        assert_eq!(by("colour distance", &session), ColorBy::Distance);
        assert_eq!(by(&format!("colour axis {last}"), &session), ColorBy::Axis(2));
        let found = with(&format!("plane right {last}"), &session);
        assert!(
            matches!(
                &found[0].action,
                Some(Action::SetPlane(view)) if view.axes == [2, 1] && view.window.is_none()
            ),
            "{found:?}"
        );
        let found = with(&format!("space z {last}"), &session);
        assert!(
            found
                .iter()
                .any(|found| matches!(&found.action, Some(Action::SetSpace(view)) if view.axes[2] == 2))
        );

        let folder = folder();
        let path = file_in(&folder, "a.csv", "x,y,state\n0,1,TX\n1,2,CA\n");
        let source = Source::File { path: path.clone(), columns: Default::default() };
        let cloud = crate::cloud::load(&source, false, &crate::progress::NoProgress).expect("a cloud");
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
        let columns = vec![
            column("x", ColumnKind::Numeric),
            column("y", ColumnKind::Numeric),
            column("state", ColumnKind::Text),
        ];
        let session = Session {
            cloud: Some(cloud.into()),
            columns: Some(FileColumns { path, columns }),
            ..Session::default()
        };
        assert_eq!(by("colour state", &session), ColorBy::Column("state".to_owned()));
    }

    #[test]
    fn urls_are_decoded_and_plain_paths_are_unchanged() {
        assert_eq!(decoded("/a%20b/%C3%A4.csv"), "/a b/ä.csv");
        assert_eq!(decoded("/100%/a%2"), "/100%/a%2");
        assert_eq!(unquoted(" '/a b' ").as_deref(), Some("/a b"));
        assert_eq!(unquoted("''"), None);
        assert_eq!(PathBuf::from(unquoted("file:///a").expect("a path")), PathBuf::from("/a"));
    }
}
