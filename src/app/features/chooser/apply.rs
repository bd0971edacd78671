//! Asks for a file, with the desktop's dialog or the built-in one.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::chooser_ui;
use super::state::{Chooser, ChooserAction, FilePurpose, FolderEntry, split, with_name};
use crate::app::context::app::{App, Feature};
use crate::app::jobs::table::{TaskKind, TaskPurpose};
use crate::app::jobs::task::Outcome;
use crate::app::model::{Action, Command, data_file};
use crate::cloud::formats;
use crate::progress::Progress;
use crate::run::recording;

/// A dialog that closes faster than this was not closed by a user: the desktop has no file dialog.
const MIN_DIALOG_TIME: Duration = Duration::from_millis(250);

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Choose(action) => app.chooser_action(action),
            Action::BrowseQueries => app.browse(FilePurpose::Queries, PathBuf::new()),
            Action::Command(Command::Open) => app.browse(FilePurpose::Data, PathBuf::new()),
            other => return Some(other),
        }
        None
    },
    dialogs: |app, ui, palette| chooser_ui(ui, &app.state, &app.session, palette, &mut app.actions),
    ..Feature::NONE
};

pub enum DialogResult {
    Path(Option<PathBuf>),
    NoDialog,
}

/// A file chosen in the desktop's dialog; the key is who asks and the suggested name.
pub static DIALOG: TaskKind<App, (FilePurpose, PathBuf), DialogResult> =
    TaskKind { concurrent: true, ..TaskKind::new(TaskPurpose::Dialog, "dialog", App::file_chosen) };

/// A folder listed by the built-in dialog.
pub static LIST: TaskKind<App, PathBuf, Result<Vec<FolderEntry>, String>> =
    TaskKind::new(TaskPurpose::List, "folder", App::folder_listed);

impl App {
    /// Asks for a file; `name` is the suggested name of a file to write.
    pub(in crate::app) fn browse(&mut self, asked_by: FilePurpose, name: PathBuf) {
        if self.handles.without_dialogs || !has_dialogs() {
            return self.choose_here(asked_by, &name);
        }
        let folder = self.folder_for(asked_by, &name);
        self.jobs.start(&DIALOG, (asked_by, name.clone()), move |_| {
            let started = Instant::now();
            let chooser = rfd::FileDialog::new().set_directory(folder);
            let path = match asked_by {
                FilePurpose::Export => {
                    let chooser = chooser.set_title("Save as");
                    match name.file_name() {
                        Some(name) => chooser.set_file_name(name.to_string_lossy()).save_file(),
                        None => chooser.save_file(),
                    }
                }
                FilePurpose::Data
                | FilePurpose::Queries
                | FilePurpose::Comparison(_)
                | FilePurpose::Second
                | FilePurpose::SessionData => chooser.set_title("Open a file of points").pick_file(),
            };
            let missing = path.is_none() && started.elapsed() < MIN_DIALOG_TIME;
            if missing { DialogResult::NoDialog } else { DialogResult::Path(path) }
        });
    }

    fn dialog_closed(&mut self, asked_by: FilePurpose, name: &Path, answer: DialogResult) {
        match answer {
            DialogResult::Path(path) => self.take_path(asked_by, path, true),
            DialogResult::NoDialog => {
                self.handles.without_dialogs = true;
                self.choose_here(asked_by, name);
            }
        }
    }

    /// The dialog was closed, with or without a choice; `asked` says whether it asked before overwriting.
    fn take_path(&mut self, asked_by: FilePurpose, path: Option<PathBuf>, asked: bool) {
        if let Some(folder) = path.as_deref().and_then(Path::parent) {
            self.state.folder = Some(folder.to_owned());
        }
        match (asked_by, path) {
            (_, None) => {}
            (FilePurpose::Data, Some(path)) => self.open(&path),
            (FilePurpose::Queries, Some(path)) => self.state.draft.query_path = path.display().to_string(),
            (FilePurpose::Comparison(kind), Some(path)) => self.compare_with(kind, path),
            (FilePurpose::Second, Some(path)) => self.open_second(path),
            (FilePurpose::SessionData, Some(path)) => self.take_found_data(&path),
            (FilePurpose::Export, Some(path)) => self.take_export_path(&path, asked),
        }
    }

    /// Where the user is: the folder of the open file, else the folder used last, else the working directory.
    pub(in crate::app) fn current_folder(&self) -> PathBuf {
        let open = self.session.cloud.as_ref().and_then(|cloud| data_file(cloud.source()));
        let open = open.iter().chain(self.session.file.as_ref().map(|file| &file.path));
        let recent = self.state.recent.iter().filter_map(|path| path.parent());
        open.filter_map(|path| path.parent())
            .chain(self.state.folder.as_deref())
            .chain(recent)
            .find(|folder| folder.is_dir() && !self.has_samples(folder))
            .map(Path::to_owned)
            .or_else(|| std::env::current_dir().ok())
            .unwrap_or_else(|| PathBuf::from("."))
    }

    /// The folder where a dialog begins; `name` is the suggested file to write.
    fn folder_for(&self, asked_by: FilePurpose, name: &Path) -> PathBuf {
        let named = name.parent().filter(|folder| asked_by == FilePurpose::Export && folder.is_dir());
        named.map_or_else(|| self.current_folder(), Path::to_owned)
    }

    /// Opens the built-in dialog.
    fn choose_here(&mut self, asked_by: FilePurpose, name: &Path) {
        let folder = self.folder_for(asked_by, name);
        let name = if asked_by == FilePurpose::Export {
            name.file_name().map(|name| name.to_string_lossy().into_owned())
        } else {
            None
        };
        let mut chooser = Chooser::new(asked_by);
        go(&mut chooser, &folder, &name.unwrap_or_default());
        self.list(chooser);
    }

    /// Shows the dialog and lists its folder in the background, because network folders may be slow.
    fn list(&mut self, chooser: Chooser) {
        let folder = chooser.folder.clone();
        self.session.chooser = Some(chooser);
        let asked = folder.clone();
        self.jobs.start(&LIST, folder, move |progress| list(&asked, progress));
    }

    fn folder_listed(&mut self, folder: PathBuf, items: Outcome<Result<Vec<FolderEntry>, String>>) {
        let items = items.unwrap_or_else(|stopped| {
            Err(format!("This folder cannot be read: {stopped}: {}", folder.display()))
        });
        if let Some(chooser) = &mut self.session.chooser {
            chooser.listed(folder, items);
        }
    }

    fn chooser_action(&mut self, action: ChooserAction) {
        let Some(mut chooser) = self.session.chooser.take() else { return };
        chooser.error = None;
        match action {
            ChooserAction::Close => return,
            ChooserAction::All(all) => (chooser.all, chooser.at) = (all, None),
            ChooserAction::Move(at) => chooser.at = at,
            ChooserAction::Type(text) => {
                let text = begun_anew(&chooser.text, text);
                let (folder, _) = split(&text);
                (chooser.text, chooser.at) = (text, None);
                let folder = expanded(&folder);
                if folder != chooser.folder {
                    chooser.enter(folder);
                    return self.list(chooser);
                }
            }
            ChooserAction::Go(folder) => {
                let name =
                    if chooser.asked_by == FilePurpose::Export { chooser.typed().1 } else { String::new() };
                go(&mut chooser, &folder, &name);
                return self.list(chooser);
            }
            ChooserAction::Take(name) => {
                let is_file = chooser.items.iter().flatten().any(|item| item.name == name && item.is_file);
                let path = chooser.folder.join(&name);
                if is_file {
                    return self.take_path(chooser.asked_by, Some(path), false);
                }
                let kept =
                    if chooser.asked_by == FilePurpose::Export { chooser.typed().1 } else { String::new() };
                go(&mut chooser, &path, &kept);
                return self.list(chooser);
            }
            ChooserAction::Done => {
                let path = expanded(Path::new(chooser.text.trim()));
                let exporting = chooser.asked_by == FilePurpose::Export;
                // The path of a single run in a recording begins with the path of the recording.
                let there =
                    path.exists() || recording::split_run(&path).is_some_and(|(file, _)| file.exists());
                if path.is_dir() {
                    go(&mut chooser, &path, "");
                    return self.list(chooser);
                } else if there
                    || (exporting && path.parent().is_some_and(Path::is_dir) && path.file_name().is_some())
                {
                    return self.take_path(chooser.asked_by, Some(path), false);
                } else if path.as_os_str().is_empty() && (exporting || chooser.only().is_none()) {
                    chooser.error = Some("Type a path, or choose a file in the list.".to_owned());
                } else if exporting {
                    chooser.error = Some(format!(
                        "There is no such folder: {}",
                        path.parent().unwrap_or(&path).display()
                    ));
                } else if let Some(only) = chooser.only() {
                    self.session.chooser = Some(chooser);
                    return self.chooser_action(ChooserAction::Take(only));
                } else {
                    chooser.error = Some(format!("There is no such file: {}", path.display()));
                }
            }
        }
        self.session.chooser = Some(chooser);
    }

    /// The desktop's dialog was closed.
    fn file_chosen(&mut self, (asked_by, name): (FilePurpose, PathBuf), answer: Outcome<DialogResult>) {
        if let Some(answer) = self.done("dialog", answer) {
            self.dialog_closed(asked_by, &name, answer);
        }
    }
}

/// Shows a folder, with a file name typed in it.
fn go(chooser: &mut Chooser, folder: &Path, name: &str) {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    chooser.text =
        if name.is_empty() { with_name(&folder, "", true) } else { with_name(&folder, name, false) };
    // Spelled like the folder of a typed path, for comparison.
    let (folder, _) = split(&chooser.text);
    chooser.enter(folder);
}

/// The typed text. An absolute or home path typed after the field's folder replaces it.
fn begun_anew(before: &str, text: String) -> String {
    let behind = text.strip_prefix(before).filter(|_| before.ends_with('/') && before.len() > 1);
    match behind.filter(|typed| typed.starts_with('/') || typed.starts_with('~')) {
        Some(typed) => typed.to_owned(),
        None => text,
    }
}

/// Expands `~`.
fn expanded(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), directories::UserDirs::new()) {
        (Ok(rest), Some(dirs)) => dirs.home_dir().join(rest),
        _ => path.to_owned(),
    }
}

/// Lists a folder: subfolders first, each by name.
fn list(folder: &Path, progress: &dyn Progress) -> Result<Vec<FolderEntry>, String> {
    let place = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let item = |entry: io::Result<std::fs::DirEntry>| {
        let entry = entry.ok()?;
        // Follows links.
        let is_file = !entry
            .file_type()
            .is_ok_and(|kind| kind.is_dir() || (kind.is_symlink() && entry.path().is_dir()));
        let path = entry.path();
        let opens = is_file
            && (path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(recording::EXTENSION))
                || formats::opens(&path));
        Some(FolderEntry { is_file, name: entry.file_name().into_string().ok()?, opens })
    };
    let mut items: Vec<FolderEntry> = match std::fs::read_dir(place) {
        Ok(entries) => entries.take_while(|_| !progress.cancelled()).filter_map(item).collect(),
        Err(why) => return Err(format!("This folder cannot be read: {why}: {}", place.display())),
    };
    items.sort_by_cached_key(|item| (item.is_file, item.name.to_lowercase(), item.name.clone()));
    Ok(items)
}

/// Whether the desktop has a file dialog, through a file chooser portal or zenity.
#[cfg(all(unix, not(target_os = "macos")))]
fn has_dialogs() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let on_path = set("PATH")
        .is_some_and(|paths| std::env::split_paths(&paths).any(|folder| folder.join("zenity").is_file()));
    if on_path {
        return true;
    }
    let bus = set("DBUS_SESSION_BUS_ADDRESS").is_some()
        || set("XDG_RUNTIME_DIR").is_some_and(|folder| Path::new(&folder).join("bus").exists());
    let folders = set("XDG_DATA_DIRS").unwrap_or_else(|| "/usr/local/share:/usr/share".into());
    bus && std::env::split_paths(&folders).any(|folder| {
        let portals =
            std::fs::read_dir(folder.join("xdg-desktop-portal/portals")).into_iter().flatten().flatten();
        let mut portals = portals.filter_map(|portal| crate::files::read_small(&portal.path(), 1 << 20).ok());
        portals.any(|portal| {
            String::from_utf8_lossy(&portal).contains("org.freedesktop.impl.portal.FileChooser")
        })
    })
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
fn has_dialogs() -> bool {
    true
}
