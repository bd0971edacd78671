//! Files that are dropped together: every recording is opened, one after the other, and last the first file of points, so
//! that it is what is shown. What is not opened is named.

use std::path::PathBuf;

use crate::app::context::app::App;
use crate::app::features::opening::apply::OPEN;
use crate::app::model::{About, file_name};
use crate::run::recording;

/// What becomes of files that were dropped together.
#[derive(Debug, Default, PartialEq, Eq)]
struct Dropped {
    /// In the order in which they are opened.
    opened: Vec<PathBuf>,
    /// Files of points beside the one that is opened.
    left: Vec<PathBuf>,
    /// Folders, which are not opened.
    folders: Vec<PathBuf>,
}

impl Dropped {
    fn of(paths: Vec<PathBuf>) -> Self {
        let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = paths.into_iter().partition(|path| path.is_dir());
        let (mut opened, points): (Vec<PathBuf>, Vec<PathBuf>) = files.into_iter().partition(|path| recording::split_run(path).is_some());
        let mut points = points.into_iter();
        opened.extend(points.next());
        Self { opened, left: points.collect(), folders }
    }
}

fn names(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| file_name(path)).collect::<Vec<_>>().join(", ")
}

impl App {
    /// Opens what was dropped, and says what is not opened.
    pub(in crate::app) fn open_dropped(&mut self, paths: Vec<PathBuf>) {
        let Dropped { opened, left, folders } = Dropped::of(paths);
        if !folders.is_empty() {
            self.session.log.error(About::Other, format!("cannot open a folder: drop the files in it instead: {}", names(&folders)));
        }
        if let Some(points) = opened.last().filter(|_| !left.is_empty()) {
            let (shown, left) = (file_name(points), names(&left));
            self.session.log.warn(
                About::Other,
                format!(
                    "one cloud is shown at a time: {shown} is opened, and not {left}; drop one alone, or type it on the left under Queries, A file"
                ),
            );
        }
        self.open_next(opened);
    }

    /// Opens the first, and the others once it is there.
    pub(in crate::app) fn open_next(&mut self, mut paths: Vec<PathBuf>) {
        while !paths.is_empty() {
            self.open(&paths.remove(0));
            if let Some(opening) = self.jobs.about_mut(&OPEN) {
                opening.next = paths;
                return;
            }
        }
    }

    /// Opening was cancelled, and with it what was to be opened next.
    pub(in crate::app) fn opening_cancelled(&mut self, next: &[PathBuf]) {
        let others = if next.is_empty() { String::new() } else { format!("; not opened either: {}", names(next)) };
        self.session.log.info(format!("cancelled{others}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_come_first_and_one_cloud_last() {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let mut all = paths(&["a.csv", "one.warpscope", "b.npy", "two.WARPSCOPE"]);
        all.push(folder.path().to_owned());
        let dropped = Dropped::of(all);
        assert_eq!(dropped.opened, paths(&["one.warpscope", "two.WARPSCOPE", "a.csv"]));
        assert_eq!((dropped.left, dropped.folders), (paths(&["b.npy"]), vec![folder.path().to_owned()]));
    }
}
