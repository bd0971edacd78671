//! The names of all rows are read, where somebody types what may be one.

use std::sync::Arc;

use crate::app::features::color::column::{self, Values};
use crate::app::jobs::task::Outcome;
use crate::app::model::row_names::{RowNames, Texts};
use crate::app::model::telling;
use crate::app::shell::app::App;
use crate::app::shell::tasks::NAMES;
use crate::cloud::{PointCloud, Source};
use crate::progress::Progress;

impl App {
    /// Has them read for the finder, and for *Why row* where no number is typed.
    pub(in crate::app::shell) fn want_names(&mut self) {
        let named = |typed: &str| typed.contains(char::is_alphabetic);
        let typed = self.session.finder.as_ref().is_some_and(|finder| named(&finder.text)) || named(&self.session.why.typed);
        if !typed || self.jobs.has(&NAMES) {
            return;
        }
        let (Some(cloud), Some(beside)) = (self.session.cloud.clone(), self.session.listed_beside()) else { return };
        let Source::File { path, .. } = cloud.source() else { return };
        let [kind, name] = telling::told_by(beside, &self.session.roles).map(|heading| heading.map(str::to_owned));
        let columns = [name, kind];
        if columns[0].is_none() || self.session.row_names.as_ref().is_some_and(|known| known.is_of(&cloud, &columns)) {
            return;
        }
        let path = path.clone();
        self.jobs.start(&NAMES, (), move |progress| {
            let read = |heading: &Option<String>| heading.as_ref().map_or_else(Texts::default, |heading| texts(&cloud, &path, heading, progress));
            let (names, kinds) = (read(&columns[0]), read(&columns[1]));
            Arc::new(RowNames::new(Arc::clone(&cloud), columns, names, kinds))
        });
    }

    /// They are there, and found from now on.
    pub(in crate::app::shell) fn names_read(&mut self, (): (), names: Outcome<Arc<RowNames>>) {
        let Some(names) = self.done("names", names) else { return };
        self.session.row_names = Some(names);
    }
}

/// A column as texts; nothing where it cannot be read or has too many different ones. Numbers are no names that anybody types in letters.
fn texts(cloud: &PointCloud, path: &std::path::Path, heading: &str, progress: &dyn Progress) -> Texts {
    match column::read(cloud, path, heading, progress) {
        Ok(Values::Texts(names, codes)) => Texts { names, codes },
        Ok(Values::Numbers(_)) | Err(_) => Texts::default(),
    }
}
