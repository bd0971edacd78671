use super::*;
use crate::app::model::Theme;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A window that starts without warnings.
fn window(folder: &Path) -> (SettingsFile, State) {
    let Startup { settings, start, found, warnings, .. } = begin(folder);
    assert_eq!(warnings, Vec::<String>::new());
    start.over();
    (settings, found.map(|(state, _)| state).unwrap_or_default())
}

fn recent(state: &State) -> Vec<&str> {
    state.recent.iter().map(|path| path.to_str().unwrap()).collect()
}

#[test]
fn settings_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let (mut settings, mut state) = window(folder.path());
    state.scale = 1.5;
    state.draft.k = "7".to_owned();
    settings.write(&state, Some("what was open".to_owned())).unwrap();
    let (back, last) = begin(folder.path()).found.unwrap();
    assert_eq!((back.scale, back.draft.k, last.as_deref()), (1.5, "7".to_owned(), Some("what was open")));
}

/// Opening a pipe used to block the window.
#[cfg(unix)]
#[test]
fn named_pipe_settings_produce_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    assert!(
        std::process::Command::new("mkfifo")
            .arg(folder.path().join("state.json"))
            .status()
            .unwrap()
            .success()
    );
    let warnings = begin(folder.path()).warnings;
    assert!(warnings.len() == 1 && warnings[0].contains("not a regular file"), "{warnings:?}");
}

#[test]
fn two_windows_merge_their_changes() {
    let folder = tempfile::tempdir().unwrap();
    let (mut settings, mut state) = window(folder.path());
    state.recent = ["old", "older"].map(PathBuf::from).to_vec();
    settings.write(&state, Some("as it was".to_owned())).unwrap();

    let ((mut a, mut state_a), (mut b, mut state_b)) = (window(folder.path()), window(folder.path()));
    state_a.remember(Path::new("of a"));
    (state_a.scale, state_a.draft.k) = (2.0, "9".to_owned());
    a.write(&state_a, Some("open in a".to_owned())).unwrap();
    state_b.remember(Path::new("of b"));
    state_b.look = Theme::Dark;
    b.write(&state_b, Some("as it was".to_owned())).unwrap();
    let (found, last) = begin(folder.path()).found.unwrap();
    assert_eq!(recent(&found), ["of b", "old", "older", "of a"]);
    assert_eq!(
        (found.scale, found.draft.k.as_str(), found.look, last.as_deref()),
        (2.0, "9", Theme::Dark, Some("open in a"))
    );

    // Repeatedly: changes by another window must not count as this one's.
    state_a.remember(Path::new("more of a"));
    a.write(&state_a, Some("open in a".to_owned())).unwrap();
    state_b.recent.clear();
    b.write(&state_b, Some("open in b".to_owned())).unwrap();
    let (found, last) = begin(folder.path()).found.unwrap();
    assert_eq!(recent(&found), ["more of a", "of a"], "entries cleared by one window stay cleared");
    assert_eq!((found.scale, found.look, last.as_deref()), (2.0, Theme::Dark, Some("open in b")));
}

#[test]
fn concurrent_writes_lose_no_entries() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for window_of in 0..4 {
            let folder = folder.path();
            scope.spawn(move || {
                let mut state = State::default();
                let mut settings = SettingsFile {
                    folder: folder.to_owned(),
                    base: StoredSettings::new(&state, None),
                    writes: true,
                    patience: Duration::from_secs(600),
                };
                for file in 0..2 {
                    state.remember(Path::new(&format!("{window_of}/{file}")));
                    settings.write(&state, None).unwrap();
                }
            });
        }
    });
    let (found, _) = begin(folder.path()).found.unwrap();
    let mut all = recent(&found);
    all.sort_unstable();
    assert_eq!(all, ["0/0", "0/1", "1/0", "1/1", "2/0", "2/1", "3/0", "3/1"]);
    assert_eq!(names(folder.path()), ["starting", "state.json", "state.lock"], "no temporary files remain");
}

#[test]
fn two_failed_starts_reset_the_settings_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("app.ron"), "{}").unwrap();
    let (mut settings, state) = window(folder.path());
    settings.write(&State { scale: 2.5, ..state }, None).unwrap();
    for failed in ["first", "second"] {
        let startup = begin(folder.path());
        assert_eq!(startup.found.map(|(state, _)| state.scale), Some(2.5), "{failed}");
        assert_eq!(startup.warnings, Vec::<String>::new(), "{failed}");
    }
    let Startup { mut settings, start, found, warnings, .. } = begin(folder.path());
    let aside = |name: &str| folder.path().join(name).display().to_string();
    assert!(found.is_none());
    assert_eq!(
        warnings,
        [format!(
            "two starts failed, so this one uses defaults; old settings set aside: {}, {}",
            aside("state.set-aside-1.json"),
            aside("app.set-aside-1.ron")
        )]
    );
    for frame in 0..5 {
        assert!(folder.path().join("starting").exists(), "{frame}");
        start.drawn(frame > 3);
    }
    assert!(!folder.path().join("starting").exists());
    settings.write(&State { scale: 1.25, ..State::default() }, None).unwrap();
    let next = begin(folder.path());
    assert_eq!((next.found.map(|(state, _)| state.scale), next.warnings), (Some(1.25), Vec::new()));
    // Renaming the file restores the settings.
    fs::rename(aside("state.set-aside-1.json"), folder.path().join("state.json")).unwrap();
    assert_eq!(begin(folder.path()).found.map(|(state, _)| state.scale), Some(2.5));
}

#[test]
fn concurrent_starts_do_not_count_as_failed() {
    let folder = tempfile::tempdir().unwrap();
    let first = begin(folder.path());
    for _ in 0..3 {
        assert_eq!(begin(folder.path()).warnings, Vec::<String>::new());
    }
    first.start.over();
    assert_eq!(names(folder.path()), ["state.lock"]);
    // A marker file with invalid contents does not count either.
    fs::write(folder.path().join("starting"), "\u{0}\u{ff} many").unwrap();
    assert_eq!(begin(folder.path()).warnings, Vec::<String>::new());
}

#[test]
fn unreadable_settings_are_renamed_not_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.json");
    let whole = {
        let (mut settings, state) = window(folder.path());
        settings.write(&State { scale: 2.0, ..state }, None).unwrap();
        fs::read_to_string(&path).unwrap()
    };
    let deep = format!(r#"{{"format":"{FORMAT}","schema_version":1,"state":{}"#, r#"{"a":["#.repeat(100_000));
    for (number, wrong) in
        ["", "{", "null", r#"{"format":"another","schema_version":1}"#, &whole[..whole.len() / 2], &deep]
            .iter()
            .enumerate()
    {
        fs::write(&path, wrong).unwrap();
        let startup = begin(folder.path());
        startup.start.over();
        let aside = folder.path().join(format!("state.set-aside-{}.json", number + 1));
        let [said] = &startup.warnings[..] else { panic!("{:?}", startup.warnings) };
        assert!(
            said.starts_with("cannot read the settings") && said.ends_with(&format!(": {}", aside.display()))
        );
        assert!(startup.found.is_none() && !path.exists());
        assert_eq!(&fs::read_to_string(aside).unwrap(), wrong);
    }
}

#[test]
fn settings_that_cannot_be_opened_are_left_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.json");
    // A temporary disk failure is not damage. A directory simulates one: even root cannot read it as a file.
    fs::create_dir(&path).unwrap();
    let Startup { mut settings, found, is_first, warnings, .. } = begin(folder.path());
    assert!(found.is_none() && !is_first);
    let [said] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(
        said.starts_with(
            "cannot read the settings, so this window uses defaults and saves none: is a directory"
        ),
        "{said}"
    );
    settings.write(&State { scale: 2.0, ..State::default() }, None).unwrap();
    assert!(path.is_dir());
    // The same if the file becomes unreadable while this window is open.
    fs::remove_dir(&path).unwrap();
    let (mut settings, state) = window(folder.path());
    fs::create_dir(&path).unwrap();
    assert!(
        settings
            .write(&State { scale: 3.0, ..state }, None)
            .unwrap_err()
            .starts_with("cannot read the settings")
    );
    assert!(path.is_dir());
}

#[test]
fn waiting_for_the_lock_times_out() {
    let folder = tempfile::tempdir().unwrap();
    let held = lock(folder.path(), LOCK_TIMEOUT).unwrap();
    assert!(lock(folder.path(), Duration::from_millis(30)).is_none());
    drop(held);
    assert!(lock(folder.path(), Duration::ZERO).is_some());
}

#[test]
fn only_invalid_fields_fall_back_to_defaults() {
    let state = StoredSettings::new(&State { scale: 2.0, look: Theme::Dark, ..State::default() }, None);
    for (key, value) in [
        ("draft", Value::Null),
        ("plane", "wide".into()),
        ("look", 7.into()),
        ("tree", Value::Array(Vec::new())),
    ] {
        let mut wrong = state.clone();
        wrong.state.insert(key.to_owned(), value);
        wrong.state.insert("of a later version".to_owned(), 3.into());
        let read = wrong.to_state();
        assert_eq!((read.scale, read.look == Theme::Dark), (2.0, key != "look"), "{key}");
    }
}

#[test]
fn settings_of_later_versions_are_left_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.json");
    let later = r#"{"format":"warpscope state","schema_version":2,"warpscope_version":"9.1.0","state":[]}"#
        .replace("[]", r#"{"scale":2.0}"#);
    fs::write(&path, &later).unwrap();
    let Startup { mut settings, found, warnings, .. } = begin(folder.path());
    assert!(found.is_none());
    let expected = format!(
        "the settings are from a newer Warpscope (9.1.0, schema 2; this version reads up to 1): using defaults, \
             saving nothing; use that version or remove the file: {}",
        path.display()
    );
    assert_eq!(warnings, std::slice::from_ref(&expected));
    settings.write(&State { scale: 3.0, ..State::default() }, None).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), later);
    // The same if a later version writes the file while this window is open.
    fs::remove_file(&path).unwrap();
    let (mut settings, state) = window(folder.path());
    fs::write(&path, &later).unwrap();
    assert_eq!(settings.write(&State { scale: 3.0, ..state }, None), Err(expected));
    assert_eq!(fs::read_to_string(&path).unwrap(), later);
}

#[cfg(unix)]
#[test]
fn failed_writes_keep_the_old_settings() {
    let folder = tempfile::tempdir().unwrap();
    let (mut settings, state) = window(folder.path());
    settings.write(&State { scale: 2.0, ..state.clone() }, None).unwrap();
    let path = folder.path().join("state.json");
    let before = fs::read(&path).unwrap();
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    let said = settings.write(&State { scale: 1.0, ..state }, None).unwrap_err();
    assert_eq!(
        said,
        format!("cannot save settings: cannot write: the existing file is read-only: {}", path.display())
    );
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(names(folder.path()), ["state.json", "state.lock"]);
}
