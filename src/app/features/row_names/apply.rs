//! Reads the names of all rows, and searches them for typed names.

use std::sync::Arc;
use std::time::Duration;

use super::state::{NameSearch, RowNames};
use crate::app::context::app::{App, Feature};
use crate::app::features::picking::lookup::all_rows;
use crate::app::jobs::table::{TaskKind, TaskPurpose};
use crate::app::jobs::task::Outcome;
use crate::app::model::answer_summary;
use crate::cloud::formats::{Cell, ColumnKind, FormatError};

/// How often matches are shown during a search, and how long to wait for names still being read.
const SHOW_INTERVAL: Duration = Duration::from_millis(50);

pub static FEATURE: Feature = Feature {
    update: |app| {
        app.want_names();
        app.search_names();
    },
    leave_cloud: |app, _| {
        app.jobs.stop(&NAMES);
        app.jobs.stop(&SEARCH);
        app.session.row_names = None;
    },
    ..Feature::NONE
};

/// Reads all names block by block; returns why some are missing.
pub static NAMES: TaskKind<App, Arc<RowNames>, Result<Option<String>, FormatError>> =
    TaskKind::new(TaskPurpose::Names, "names", App::names_read);

/// Searches the names for the typed text.
pub static SEARCH: TaskKind<App, (), ()> = TaskKind::new(TaskPurpose::Search, "search", |_, (), _| {});

impl App {
    /// Starts reading names once the finder or the field of *Where does … rank?* contains letters.
    fn want_names(&mut self) {
        let named = |typed: &str| typed.contains(char::is_alphabetic);
        let typed = self.session.finder.as_ref().is_some_and(|finder| named(&finder.text))
            || named(&self.session.why.typed);
        let Some(columns) = typed.then(|| self.session.listed_columns()).flatten() else { return };
        let Some(cloud) = self.session.cloud.clone() else { return };
        let Some(known) = self.session.file_columns() else { return };
        // Columns of numbers cannot match letters.
        let is_text = |heading: &&str| {
            known.columns.iter().any(|column| column.name == **heading && column.kind == ColumnKind::Text)
        };
        let [kind, name] = answer_summary::label_and_name(columns, &self.session.roles)
            .map(|heading| heading.filter(is_text));
        // Without a label, another text tells equal names apart.
        let texts = known.columns.iter().map(|column| column.name.as_str()).filter(is_text);
        let kind = kind.or_else(|| texts.into_iter().find(|&heading| Some(heading) != name));
        let [kind, name] = [kind, name].map(|heading| heading.map(str::to_owned));
        let columns = [name, kind];
        if columns[0].is_none()
            || self.session.row_names.as_ref().is_some_and(|known| known.is_of(&cloud, &columns))
        {
            return;
        }
        let headings: Vec<String> = columns.iter().flatten().cloned().collect();
        let names = Arc::new(RowNames::new(Arc::clone(&cloud), columns));
        (self.session.row_names, self.session.name_search) =
            (Some(Arc::clone(&names)), NameSearch::default());
        self.jobs.stop(&SEARCH);
        self.jobs.start(&NAMES, Arc::clone(&names), move |progress| {
            all_rows(&names.cloud, &headings, true, progress, &mut |rows| {
                let text = |cells: &mut Vec<Cell>| match cells.pop() {
                    Some(Cell::Text(text)) => text,
                    _ => String::new(),
                };
                let texts = rows.into_iter().map(|mut cells| {
                    let kind = if headings.len() > 1 { text(&mut cells) } else { String::new() };
                    [text(&mut cells), kind]
                });
                let texts: Vec<[String; 2]> = texts.collect();
                names.push(texts.iter().map(|texts| texts.each_ref().map(String::as_str)));
            })
        });
    }

    fn names_read(&mut self, names: Arc<RowNames>, outcome: Outcome<Result<Option<String>, FormatError>>) {
        let read = self.done("names", outcome);
        names.end(read.map_or(Some("the rest cannot be read".to_owned()), |read| {
            read.unwrap_or_else(|why| Some(why.to_string()))
        }));
    }

    /// Starts a search for the finder's text.
    fn search_names(&mut self) {
        let (Some(finder), Some(names)) = (&self.session.finder, &self.session.row_names) else { return };
        if !self.session.name_search.is_for(&finder.text) {
            let (search, names) = (NameSearch::new(&finder.text), Arc::clone(names));
            self.session.name_search = search.clone();
            self.jobs.start(&SEARCH, (), move |progress| {
                while let Some(more) = search.search_next(&names).filter(|_| !progress.cancelled()) {
                    // More names are still to be read.
                    if !more {
                        std::thread::sleep(SHOW_INTERVAL);
                    }
                }
            });
        }
        if self.jobs.has(&SEARCH) {
            self.handles.ctx.request_repaint_after(SHOW_INTERVAL);
        }
    }
}
