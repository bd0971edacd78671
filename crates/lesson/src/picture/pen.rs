//! Drawing helpers of the panels: those of all drawings, and the scale of distances.

use super::scene::{Area, Ink, Scene};
pub use crate::draw::pen::*;
use crate::recording::Recording;
use crate::text::{significant, significant_to};

/// Maps squared distances to magnitudes, over the range of all candidates of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    low: f32,
    high: f32,
    log: bool,
}

impl Scale {
    /// Logarithmic if most distances are small fractions of the largest.
    pub fn for_recording(recording: &Recording) -> Self {
        const MOST: f32 = 0.2;
        const DECADES: f32 = 1e-6;
        let span = recording.span();
        let log = span.middle < span.high * MOST;
        Self { low: if log { span.low.max(span.high * DECADES) } else { 0.0 }, high: span.high, log }
    }

    /// The magnitude of a distance, between 0 and 1.
    pub fn magnitude(&self, distance: f32) -> f32 {
        let along = if self.log {
            (distance / self.low).ln() / (self.high / self.low).ln()
        } else {
            (distance - self.low) / (self.high - self.low)
        };
        if along.is_nan() { 0.0 } else { along.clamp(0.0, 1.0) }
    }

    /// Round values in the range, ascending.
    pub fn ticks(&self) -> Vec<f32> {
        if self.low >= self.high {
            return vec![self.high];
        }
        let ticks = if self.log { round_in(self.low, self.high) } else { steps_in(self.low, self.high, 4) };
        if ticks.is_empty() { vec![self.low, self.high] } else { ticks }
    }

    /// Draws a colour bar with ticks, in an area two lines of text high.
    pub fn legend(&self, scene: &mut Scene, room: Area, text: f32) {
        const SEGMENTS: usize = 32;
        let label = if self.log { "squared distance, log" } else { "squared distance" };
        let mut room = room;
        let style = sans(text * 0.8, Ink::TextWeak);
        let wide = width(style.font, style.size, label);
        if wide + text * 8.0 < room.width {
            let rect = room.take_left(wide + text * 0.6);
            scene.label(rect, 0.0, style, label);
        }
        let bar =
            area(room.x + text, room.y + room.height * 0.08, room.width - 2.0 * text, room.height * 0.38);
        for segment in 0..SEGMENTS {
            let left = bar.x + bar.width * segment as f32 / SEGMENTS as f32;
            // Slightly wider than its share, to avoid visible seams.
            let wide = (bar.width / SEGMENTS as f32 + 0.5).min(bar.right() - left);
            let ink = Ink::Scale((segment as f32 + 0.5) / SEGMENTS as f32);
            scene.fill(area(left, bar.y, wide, bar.height), ink);
        }
        let style = sans((text * 0.75).min(room.height * 0.42), Ink::TextWeak);
        let mut end = f32::NEG_INFINITY;
        for tick in self.ticks() {
            let (x, words) = (bar.x + bar.width * self.magnitude(tick), plain(tick));
            let wide = width(style.font, style.size, &words);
            let left = (x - wide / 2.0).clamp(room.x, (room.right() - wide).max(room.x));
            scene.path(vec![[x, bar.y], [x, bar.bottom() + 2.0]], line(faint(Ink::Text, 0.6), 1.0));
            if left > end + text * 0.4 && left + wide <= room.right() + 0.5 {
                scene.text([left, room.bottom()], [0.0, 1.0], style, words);
                end = left + wide;
            }
        }
    }
}

/// Powers of ten between two values, with their multiples by 2 and 5 if they are few.
pub fn round_in(low: f32, high: f32) -> Vec<f32> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let all = |factors: &[f64]| -> Vec<f32> {
        let values = (first..=last)
            .flat_map(|power| factors.iter().map(move |factor| (factor * 10f64.powi(power)) as f32));
        values.filter(|value| (low..=high).contains(value)).collect()
    };
    let tens = all(&[1.0]);
    if tens.len() >= 3 { tens } else { all(&[1.0, 2.0, 5.0]) }
}

/// About this many multiples of a round step between two values.
pub fn steps_in(low: f32, high: f32, about: usize) -> Vec<f32> {
    let (low, high) = (f64::from(low), f64::from(high));
    let rough = (high - low) / about as f64;
    if !rough.is_finite() || rough <= 0.0 {
        return Vec::new();
    }
    let step = round_step(rough * 0.99);
    let first = (low / step).ceil() as i64;
    (first..)
        .map(|at| at as f64 * step)
        .take_while(|value| *value <= high * (1.0 + 1e-9))
        .map(|value| value as f32)
        .collect()
}

/// A round value without trailing zeros.
pub fn plain(value: f32) -> String {
    if value != 0.0 && !(1e-4..1e6).contains(&value.abs()) {
        return format!("{value:.0e}");
    }
    if value >= 1000.0 {
        return significant(value.into());
    }
    let words = format!("{value:.6}");
    words.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A squared distance with a number of significant digits, at least two.
pub fn digits(distance: f32, digits: usize) -> String {
    if distance.is_infinite() {
        return "\u{221e}".to_owned();
    }
    if distance == 0.0 {
        return "0".to_owned();
    }
    if digits >= 3 {
        return significant_to(distance.into(), digits);
    }
    let rounded: f64 = format!("{distance:.1e}").parse().unwrap_or(f64::from(distance));
    let magnitude = rounded.abs().log10().floor() as i32;
    if (-4..2).contains(&magnitude) {
        format!("{rounded:.*}", (1 - magnitude) as usize)
    } else if (2..5).contains(&magnitude) {
        format!("{rounded:.0}")
    } else {
        format!("{distance:.0e}")
    }
}
