//! Progress, on stderr and only on a terminal; not with `--quiet`.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{output, stop};
use crate::progress::Progress;

/// A progress bar. It is cleared on drop, so that it never mixes with later output.
pub struct Bar {
    bar: ProgressBar,
    pace: Mutex<EtaEstimator>,
}

impl Bar {
    /// A bar with a message.
    pub fn new(what: &str) -> Self {
        Self { bar: new_bar(what), pace: Mutex::default() }
    }

    /// A bar for work that began earlier, perhaps under other bars.
    pub fn since(began: Instant) -> Self {
        Self { bar: new_bar("").with_elapsed(began.elapsed()), pace: Mutex::default() }
    }

    /// A bar for work with a predicted time, shown until the actual pace is known.
    pub fn expecting(ms: Option<f64>) -> Self {
        let expected = ms.and_then(|ms| Duration::try_from_secs_f64(ms / 1e3).ok());
        Self { bar: new_bar(""), pace: Mutex::new(EtaEstimator { expected, ..EtaEstimator::default() }) }
    }

    /// Prints a line above the bar.
    #[cfg(feature = "gui")]
    pub fn line(&self, text: &str) {
        self.bar.println(text);
    }

    /// A callback for runs that shows a stage and the fraction done. It returns false after Ctrl-C.
    pub fn stage(&self) -> impl FnMut(&str, f32) -> bool + '_ {
        self.bar.set_length(1000);
        |stage, fraction| {
            self.bar.set_message(stage.to_owned());
            self.bar.set_position((fraction * 1000.0) as u64);
            self.show_time_left(f64::from(fraction));
            stop::requested().is_none()
        }
    }

    /// Shows the estimated time left, if known.
    fn show_time_left(&self, fraction: f64) {
        let Ok(mut pace) = self.pace.lock() else { return };
        let left = pace.time_left(fraction, self.bar.elapsed());
        self.bar.set_prefix(
            left.map_or_else(String::new, |left| format!(", about {:#} left", HumanDuration(left))),
        );
    }
}

fn new_bar(what: &str) -> ProgressBar {
    // Draws nothing unless stderr is a terminal.
    let target = if output::is_quiet() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(0), target);
    // The prefix is the time left.
    let style = ProgressStyle::with_template("{msg:26} {wide_bar} {percent:>3} %  {elapsed}{prefix}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what.to_owned());
    bar
}

/// Estimates the time left. Work before the first progress, such as building an index, does not count: it
/// says nothing about the rest.
#[derive(Default)]
struct EtaEstimator {
    /// The predicted total time.
    expected: Option<Duration>,
    /// The last time without progress, and the fraction then, which counts the work of earlier bars.
    start: Option<(Duration, f64)>,
    /// The fraction shown last; a smaller one belongs to other work.
    last: f64,
}

/// Shorter work needs no estimate.
const SHORT: Duration = Duration::from_secs(3);

impl EtaEstimator {
    /// The time left when a fraction is done after `elapsed`.
    fn time_left(&mut self, fraction: f64, elapsed: Duration) -> Option<Duration> {
        let goes_on = fraction >= std::mem::replace(&mut self.last, fraction);
        let Some((since, from)) = self.start.filter(|(_, from)| goes_on && fraction > *from) else {
            self.start = Some((elapsed, fraction));
            return self.expected.filter(|expected| *expected >= SHORT)?.checked_sub(elapsed);
        };
        if elapsed < SHORT {
            return self.expected.filter(|expected| *expected >= SHORT)?.checked_sub(elapsed);
        }
        if fraction >= 1.0 {
            return None;
        }
        Duration::try_from_secs_f64(
            elapsed.saturating_sub(since).as_secs_f64() * (1.0 - fraction) / (fraction - from),
        )
        .ok()
    }
}

impl Progress for Bar {
    fn update(&self, done: u64, total: u64) {
        if self.bar.length() != Some(total) {
            self.bar.set_length(total);
        }
        self.bar.set_position(done);
        if total > 0 {
            self.show_time_left(done as f64 / total as f64);
        }
    }

    fn cancelled(&self) -> bool {
        stop::requested().is_some()
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_time_follows_the_measured_pace() {
        let seconds = Duration::from_secs_f64;
        let mut pace = EtaEstimator::default();
        // Building the index takes twenty seconds without progress.
        for at in [0.0, 10.0, 20.0] {
            assert_eq!(pace.time_left(0.0, seconds(at)), None, "nothing is done yet");
        }
        assert_eq!(pace.time_left(0.25, seconds(22.0)), Some(seconds(6.0)));
        assert_eq!(pace.time_left(0.5, seconds(24.0)), Some(seconds(4.0)));
        assert_eq!(pace.time_left(1.0, seconds(28.0)), None);
        // Before the first progress, the prediction is shown.
        let mut expected = EtaEstimator { expected: Some(seconds(40.0)), ..EtaEstimator::default() };
        assert_eq!(
            (expected.time_left(0.0, seconds(0.0)), expected.time_left(0.01, seconds(1.0))),
            (Some(seconds(40.0)), Some(seconds(39.0)))
        );
        assert_eq!(
            expected.time_left(0.5, seconds(30.0)),
            Some(seconds(30.0)),
            "it is slower than predicted"
        );
        let mut late = EtaEstimator { expected: Some(seconds(4.0)), ..EtaEstimator::default() };
        assert_eq!(late.time_left(0.0, seconds(5.0)), None);
        // Other work under the same bar, then work that began under another bar.
        assert_eq!(pace.time_left(0.1, seconds(30.0)), None);
        let mut part = EtaEstimator::default();
        assert_eq!(
            (part.time_left(0.5, seconds(60.0)), part.time_left(0.75, seconds(90.0))),
            (None, Some(seconds(30.0)))
        );
        // Short work has no estimate.
        let mut short = EtaEstimator::default();
        assert_eq!((short.time_left(0.0, seconds(0.0)), short.time_left(0.5, seconds(1.0))), (None, None));
    }
}
