//! Progress, on stderr and only on a terminal.

use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::stop;
use crate::progress::Progress;

/// A progress bar. It is gone when it is dropped, so that it never mixes with what is printed after it.
pub struct Bar(ProgressBar);

impl Bar {
    /// Shows what is being done.
    pub fn new(what: &str) -> Self {
        Self(bar_of(what))
    }

    /// The same for work that began some time ago, perhaps under other bars.
    pub fn since(began: Instant) -> Self {
        Self(bar_of("").with_elapsed(began.elapsed()))
    }

    /// Puts a line above the bar, to stay there.
    #[cfg(feature = "gui")]
    pub fn line(&self, text: &str) {
        self.0.println(text);
    }

    /// Shows another stage, at a fraction of the whole; for runs. Asks to stop after Ctrl-C.
    pub fn stage(&self) -> impl FnMut(&str, f32) -> bool + '_ {
        self.0.set_length(1000);
        |stage, fraction| {
            self.0.set_message(stage.to_owned());
            self.0.set_position((fraction * 1000.0) as u64);
            stop::asked().is_none()
        }
    }
}

fn bar_of(what: &str) -> ProgressBar {
    // Draws nothing where stderr is no terminal.
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{msg:26} {wide_bar} {percent:>3} %  {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what.to_owned());
    bar
}

impl Progress for Bar {
    fn update(&self, done: u64, total: u64) {
        if self.0.length() != Some(total) {
            self.0.set_length(total);
        }
        self.0.set_position(done);
    }

    fn cancelled(&self) -> bool {
        stop::asked().is_some()
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
