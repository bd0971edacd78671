//! Whether the file of a session's cloud is still what it was. It is read again only where the system says that it may be
//! another, on a thread, with progress and cancel: a file may be as large as it likes.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::app::context::app::App;
use crate::app::features::saved::state::SavedSession;
use crate::app::jobs::table::{Kind, Slot};
use crate::app::jobs::task::Outcome;
use crate::app::model::{About, Activity, FileState, NOTICED, file_name};
use crate::cloud::{CloudError, Fingerprint, Source, formats, load};
use crate::progress::Progress;

/// A file that is read again, to see whether it has changed.
pub struct Checking {
    pub path: PathBuf,
    /// Of the cloud that was read from it.
    pub fingerprint: Fingerprint,
}

/// What has become of a file.
pub enum Checked {
    /// It is what it was, and the system says this of it.
    Same(Option<FileState>),
    /// It is not, as the rest of a sentence.
    Other(&'static str),
    /// Nobody wanted to know.
    Cancelled,
}

pub static CHECK: Kind<App, Checking, Checked> = Kind {
    noticed: NOTICED,
    purpose: |checking, fraction| Some(Activity::Checking { what: file_name(&checking.path), fraction }),
    ..Kind::new(Slot::Check, "check", App::checked)
};

impl App {
    /// Says where the file of a session's cloud is gone, or another by now: what is shown are the points of then. `read` is
    /// when these began to be read, where they were just read from that very file, and `is_near` whether a source's file may be read unasked.
    pub(in crate::app) fn compare_source(&mut self, saved: &SavedSession, read: Option<SystemTime>, is_near: impl Fn(&Source) -> bool) {
        let Some(cloud) = self.session.cloud.as_ref().filter(|cloud| is_near(cloud.source())) else { return };
        let Source::File { path, .. } = cloud.source() else { return };
        let path = formats::file_of(path);
        let (source, fingerprint, drop_nonfinite) = (cloud.source().clone(), cloud.fingerprint().clone(), cloud.dropped() > 0);
        let before = saved.cloud.as_ref().filter(|cloud| cloud.fingerprint == fingerprint).and_then(|cloud| cloud.file);
        let (file, expected) = (path.clone(), fingerprint.clone());
        let work = move |progress: &dyn Progress| match FileState::of(&source) {
            None if !file.exists() => Checked::Other("is gone"),
            Some(now) if Some(now) == before || read.is_some_and(|read| now.is_before(read)) => Checked::Same(Some(now)),
            // Also one that was put in its place with an older time.
            now => match load(&source, drop_nonfinite, progress) {
                Ok(cloud) if *cloud.fingerprint() == expected => Checked::Same(now),
                Ok(_) => Checked::Other("has changed since"),
                Err(CloudError::Cancelled) => Checked::Cancelled,
                Err(_) => Checked::Other("cannot be read any more"),
            },
        };
        self.jobs.start(&CHECK, Checking { path, fingerprint }, work);
    }

    /// What has become of the file is known.
    fn checked(&mut self, Checking { path, fingerprint }: Checking, found: Outcome<Checked>) {
        let unknown = |why: &str| format!("{why} whether the points are still those of their file: {}", path.display());
        match found {
            Ok(Checked::Same(file)) => self.session.loaded_file = file.map(|file| (fingerprint, file)),
            Ok(Checked::Other(how)) => {
                let said = format!("the points are those of the session; their file {how}: {}", path.display());
                self.session.log.warn(About::Data, said);
            }
            Ok(Checked::Cancelled) => self.session.log.info(unknown("cancelled; it is not known")),
            Err(stopped) => self.session.log.error(About::Data, unknown(&format!("{stopped}; it is not known"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use crossbeam_channel::bounded;

    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::app::model::State;
    use crate::app::testing::cloud;

    #[test]
    fn what_is_read_again_is_named_and_can_be_stopped() {
        let mut window = Harness::builder()
            .with_size([1280.0, 800.0])
            .build_eframe(|cc| App::bare(cc, State { hints: false, ..State::default() }).expect("a thread for the worker"));
        let (begun, waiting) = bounded(1);
        let work = move |progress: &dyn Progress| {
            progress.update(1, 4);
            let _ = begun.send(());
            while !progress.cancelled() {
                std::thread::yield_now();
            }
            Checked::Cancelled
        };
        let (path, fingerprint) = (PathBuf::from("far/large.csv"), cloud(3, 2, 1).fingerprint().clone());
        let jobs = &mut window.state_mut().jobs;
        jobs.start(&CHECK, Checking { path, fingerprint }, work);
        // As if it had not begun yet, however slow this machine is.
        jobs.began(Slot::Check, Instant::now() + Duration::from_secs(3_600));
        window.step();
        assert!(window.query_by_label_contains("Reading large.csv again").is_none(), "what takes a moment is not worth a word");
        waiting.recv().expect("it goes on");
        window.state_mut().jobs.began(Slot::Check, Instant::now() - NOTICED);
        window.run_steps(2);
        window.get_by_label_contains("Reading large.csv again, to see whether it has changed 25 %");
        window.get_by_label("Cancel").click();
        let started = Instant::now();
        while window.state().jobs.has(&CHECK) {
            assert!(started.elapsed().as_secs() < 60, "it goes on");
            window.step();
        }
        window.run_steps(2);
        assert!(window.query_by_label_contains("Reading large.csv again").is_none());
        let said = window.state().session.log.last().map(|entry| entry.text.clone());
        assert!(said.is_some_and(|said| said.starts_with("cancelled; it is not known whether")));
    }
}
