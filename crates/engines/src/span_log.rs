//! Records the spans of several devices and streams, from their threads.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::knn::{Lane, MAX_STREAM_SPANS, PreparedSearch, SetupPhase, StreamPhase, StreamSpan};

/// Shorter spans, such as a wait for a lock that is free, are not stored.
const SHORTEST: Duration = Duration::from_micros(1);

/// The spans of all lanes, in milliseconds since `began`. Recording one takes a lock.
pub struct SpanLog {
    began: Instant,
    spans: Mutex<Vec<StreamSpan>>,
}

impl SpanLog {
    pub fn new() -> Self {
        Self { began: Instant::now(), spans: Mutex::default() }
    }

    /// A clock that starts now.
    pub fn clock(&self, lane: Lane, tile: Option<u32>) -> LaneClock<'_> {
        LaneClock { log: self, lane, tile, start: Instant::now() }
    }

    /// See [`PreparedSearch::take_stream_spans`].
    pub fn take(&mut self, since: Instant) -> Vec<StreamSpan> {
        let before_ms = self.began.saturating_duration_since(since).as_secs_f64() * 1e3;
        let spans = std::mem::take(self.spans.get_mut().unwrap_or_else(PoisonError::into_inner));
        let shift = |span: StreamSpan| StreamSpan { start_ms: span.start_ms + before_ms, ..span };
        spans.into_iter().map(shift).collect()
    }
}

/// Times consecutive phases of a lane.
pub struct LaneClock<'a> {
    log: &'a SpanLog,
    lane: Lane,
    tile: Option<u32>,
    /// The end of the last phase.
    start: Instant,
}

impl LaneClock<'_> {
    /// Ends a phase, and starts the next.
    pub fn end(&mut self, phase: StreamPhase) {
        self.end_at(phase, Instant::now());
    }

    /// Ends loading: copying, and then building an index if the search had to.
    pub fn end_loading(&mut self, search: &dyn PreparedSearch) {
        let now = Instant::now();
        let setup = search.setup_ms().into_iter();
        let index_ms: f64 =
            setup.filter(|(phase, _)| *phase == SetupPhase::BuildIndex).map(|(_, ms)| ms).sum();
        let copy = now.duration_since(self.start).saturating_sub(Duration::from_secs_f64(index_ms / 1e3));
        self.end_at(StreamPhase::Copy, self.start + copy);
        self.end_at(StreamPhase::Index, now);
    }

    fn end_at(&mut self, phase: StreamPhase, end: Instant) {
        let start = std::mem::replace(&mut self.start, end);
        let mut spans = self.log.spans.lock().unwrap_or_else(PoisonError::into_inner);
        if end - start >= SHORTEST && spans.len() < MAX_STREAM_SPANS {
            let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
            spans.push(StreamSpan {
                lane: self.lane,
                phase,
                tile: self.tile,
                start_ms: ms(start - self.log.began),
                duration_ms: ms(end - start),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knn::DeviceId;

    #[test]
    fn the_first_spans_are_stored_in_milliseconds_since_an_earlier_instant() {
        let since = Instant::now();
        std::thread::sleep(Duration::from_millis(2));
        let mut log = SpanLog::new();
        let lane = Lane { device: DeviceId::Gpu(1), stream: Some(0) };
        let mut clock = log.clock(lane, Some(7));
        for _ in 0..MAX_STREAM_SPANS + 5 {
            let end = clock.start + Duration::from_micros(3);
            clock.end_at(StreamPhase::Search, end);
            // Too short.
            clock.end_at(StreamPhase::Wait, end + Duration::from_nanos(10));
        }
        let spans = log.take(since);
        assert_eq!(spans.len(), MAX_STREAM_SPANS);
        assert!(spans[0].start_ms >= 2.0, "{:?}", spans[0]);
        for (at, span) in spans.iter().enumerate() {
            assert_eq!((span.lane, span.tile, span.phase), (lane, Some(7), StreamPhase::Search));
            assert!((span.start_ms - spans[0].start_ms - at as f64 * 0.00301).abs() < 1e-6);
            assert!((span.duration_ms - 0.003).abs() < 1e-9);
        }
        assert_eq!(log.take(since), []);
    }
}
