//! Whether the file of a session's cloud is still what it was. It is read again only where the system says that it may be
//! another, on a thread, with progress and cancel: a file may be as large as it likes.

use std::time::{Instant, SystemTime};

use crate::app::jobs::task::Task;
use crate::app::model::files::FileState;
use crate::app::model::live::NOTICED;
use crate::app::model::log::About;
use crate::app::model::saved::SavedSession;
use crate::app::shell::app::App;
use crate::app::shell::underway::{Checking, Found};
use crate::cloud::{CloudError, Source, formats, load};

impl App {
    /// Says where the file of a session's cloud is gone, or another by now: what is shown are the points of then. `read` is
    /// when these began to be read, where they were just read from that very file.
    pub(in crate::app::shell) fn compare_source(&mut self, saved: &SavedSession, read: Option<SystemTime>) {
        let Some(cloud) = &self.session.cloud else { return };
        let Source::File { path, .. } = cloud.source() else { return };
        let path = formats::file_of(path);
        let (source, fingerprint, drop_nonfinite) = (cloud.source().clone(), cloud.fingerprint().clone(), cloud.dropped() > 0);
        let before = saved.cloud.as_ref().filter(|cloud| cloud.fingerprint == fingerprint).and_then(|cloud| cloud.file);
        let (wake, (file, expected)) = (self.handles.ctx.clone(), (path.clone(), fingerprint.clone()));
        let task = Task::start(
            "check",
            move || wake.request_repaint(),
            move |progress| match FileState::of(&source) {
                None if !file.exists() => Found::Other("is gone"),
                Some(now) if Some(now) == before || read.is_some_and(|read| now.is_before(read)) => Found::Same(Some(now)),
                // Also one that was put in its place with an older time.
                now => match load(&source, drop_nonfinite, progress) {
                    Ok(cloud) if *cloud.fingerprint() == expected => Found::Same(now),
                    Ok(_) => Found::Other("has changed since"),
                    Err(CloudError::Cancelled) => Found::Cancelled,
                    Err(_) => Found::Other("cannot be read any more"),
                },
            },
        );
        match task {
            Ok(task) => {
                self.handles.checking = Some(Checking { path, fingerprint, task, since: Instant::now() });
            }
            Err(why) => self.session.log.error(About::Data, format!("cannot see whether the file has changed: {why}: {}", path.display())),
        }
    }

    /// Takes in what was found.
    pub(in crate::app::shell) fn poll_checking(&mut self) {
        let Some(checking) = &self.handles.checking else { return };
        let Some(found) = checking.task.try_finish() else {
            // Anew in each frame: a window keeps only the nearest time that it was asked for, and forgets the rest.
            if let Some(left) = NOTICED.checked_sub(checking.since.elapsed()).filter(|left| !left.is_zero()) {
                self.handles.ctx.request_repaint_after(left);
            }
            return;
        };
        let Some(Checking { path, fingerprint, .. }) = self.handles.checking.take() else { return };
        let unknown = |why: &str| format!("{why} whether the points are still those of their file: {}", path.display());
        match found {
            Ok(Found::Same(file)) => self.session.loaded_file = file.map(|file| (fingerprint, file)),
            Ok(Found::Other(how)) => {
                let said = format!("the points are those of the session; their file {how}: {}", path.display());
                self.session.log.warn(About::Data, said);
            }
            Ok(Found::Cancelled) => self.session.log.info(unknown("cancelled; it is not known")),
            Err(()) => self.session.log.error(About::Data, unknown("the reader stopped; it is not known")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::app::model::state::State;
    use crate::app::testing::cloud;

    #[test]
    fn what_is_read_again_is_named_and_can_be_stopped() {
        let mut window = Harness::builder()
            .with_size([1280.0, 800.0])
            .build_eframe(|cc| App::bare(cc, State { hints: false, ..State::default() }).expect("a thread for the worker"));
        let task = Task::start(
            "check",
            || {},
            |progress| {
                progress.update(1, 4);
                while !progress.cancelled() {
                    std::thread::yield_now();
                }
                Found::Cancelled
            },
        );
        let (path, fingerprint) = (PathBuf::from("far/large.csv"), cloud(3, 2, 1).fingerprint().clone());
        // As if it had not begun yet, however slow this machine is.
        let since = Instant::now() + Duration::from_secs(3_600);
        let checking = Checking { path, fingerprint, task: task.expect("a thread"), since };
        window.state_mut().handles.checking = Some(checking);
        window.step();
        assert!(window.query_by_label_contains("Reading large.csv again").is_none(), "what takes a moment is not worth a word");
        let checking = window.state_mut().handles.checking.as_mut().expect("it goes on");
        while checking.task.fraction() != Some(0.25) {
            std::thread::yield_now();
        }
        checking.since = Instant::now() - NOTICED;
        window.run_steps(2);
        window.get_by_label_contains("Reading large.csv again, to see whether it has changed 25 %");
        window.get_by_label("Cancel").click();
        let started = Instant::now();
        while window.state().handles.checking.is_some() {
            assert!(started.elapsed().as_secs() < 60, "it goes on");
            window.step();
        }
        window.run_steps(2);
        assert!(window.query_by_label_contains("Reading large.csv again").is_none());
        let said = window.state().session.log.last().map(|entry| entry.text.clone());
        assert!(said.is_some_and(|said| said.starts_with("cancelled; it is not known whether")));
    }
}
