//! The frame budget: how many points fit in a frame, learnt from frame times by the GPU's clock, or else from
//! the rate of frames.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use crossbeam_channel::{Receiver, Sender, bounded};
use eframe::egui_wgpu::wgpu;

/// Target time of a frame's points; with the window's own work, this gives 20 frames per second.
const GOAL_MS: f32 = 30.0;

/// Fewer points take no measurable time; if frames are slow anyway, the cause is something else.
const MIN_BUDGET: u32 = 20_000;
const MAX_BUDGET: u32 = 1 << 30;

/// Progress of a view's first layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Points on the screen now.
    pub drawn: u32,
    /// Points that will be drawn once the view is still and all have arrived.
    pub resident: u32,
    /// Points in the layer, including those that do not fit in the adapter's memory.
    pub total: u32,
    /// Whether the view moved when it was drawn.
    pub moving: bool,
}

impl Progress {
    /// Whether nothing is left to draw.
    pub fn is_complete(self) -> bool {
        self.drawn == self.resident
    }
}

/// Shared by renderer and panes.
pub struct FramePacer {
    budget: AtomicU32,
    fixed: bool,
    measured: AtomicBool,
    /// The window's frame number, and for each view the frame in which it was last drawn.
    frame: AtomicU32,
    views: Mutex<HashMap<u64, (u32, Progress)>>,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl FramePacer {
    /// `budget` is the initial number of points per frame. `wake` is called when a picture changed, because
    /// there may be more to draw or report.
    pub fn new(budget: u32, wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            budget: AtomicU32::new(budget),
            fixed: false,
            measured: AtomicBool::new(false),
            frame: AtomicU32::new(0),
            views: Mutex::default(),
            wake: Box::new(wake),
        }
    }

    /// A budget that does not adapt.
    pub fn fixed(budget: u32) -> Self {
        Self { fixed: true, ..Self::new(budget, || {}) }
    }

    /// Number of points that fit in a frame.
    pub fn budget(&self) -> u32 {
        self.budget.load(Ordering::Relaxed)
    }

    /// Announces that the GPU's clock provides frame times.
    pub fn measures(&self) {
        self.measured.store(true, Ordering::Relaxed);
    }

    /// Learns from a frame that drew this many points in this time by the GPU's clock.
    pub fn measured(&self, points: u32, ms: f32) {
        let budget = self.budget();
        if ms > GOAL_MS * 1.2 {
            self.set(points.min(budget) as f32 * (GOAL_MS / ms).max(0.5));
        } else if points >= budget / 10 * 9 && ms < GOAL_MS * 0.75 {
            self.set(budget as f32 * (GOAL_MS * 0.9 / ms.max(0.01)).min(1.6));
        }
    }

    /// Learns from the interval between two moving frames, if there is no GPU clock.
    pub fn frame_came(&self, secs: f32) {
        if self.measured.load(Ordering::Relaxed) {
            return;
        }
        if secs > 0.06 {
            self.set(self.budget() as f32 * 0.75);
        } else if secs < 0.03 {
            self.set(self.budget() as f32 * 1.25);
        }
    }

    fn set(&self, budget: f32) {
        if self.fixed {
            return;
        }
        self.budget.store((budget as u32).clamp(MIN_BUDGET, MAX_BUDGET), Ordering::Relaxed);
    }

    /// The last progress of a view.
    pub fn progress(&self, view: u64) -> Option<Progress> {
        self.views.lock().ok()?.get(&view).map(|(_, progress)| *progress)
    }

    pub fn begin_frame(&self) {
        self.frame.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether all views drawn in the last frame are complete.
    pub fn is_complete(&self) -> bool {
        let now = self.frame.load(Ordering::Relaxed);
        let done =
            |(frame, progress): &(u32, Progress)| now.wrapping_sub(*frame) > 1 || progress.is_complete();
        self.views.lock().map_or(true, |views| views.values().all(done))
    }

    /// Records a view's progress.
    pub(super) fn shows(&self, view: u64, progress: Progress) {
        if let Ok(mut views) = self.views.lock() {
            views.insert(view, (self.frame.load(Ordering::Relaxed), progress));
        }
    }

    /// Announces a changed picture.
    pub(super) fn changed(&self) {
        (self.wake)();
    }

    /// Forgets the progress of all views, because the cloud was replaced.
    pub fn forget(&self) {
        if let Ok(mut views) = self.views.lock() {
            views.clear();
        }
    }
}

// Drawing times by the GPU's clock.

/// Maximum number of measurements in flight; further pictures are not measured.
const SLOTS: usize = 4;

/// Two u64 timestamps: begin and end of a pass.
const BYTES: u64 = 16;

pub struct GpuTimer {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    free: Vec<wgpu::Buffer>,
    sender: Sender<Readback>,
    receiver: Receiver<Readback>,
    ns_per_tick: f32,
}

struct Readback {
    buffer: wgpu::Buffer,
    points: u32,
    mapped: bool,
}

impl GpuTimer {
    /// `None` if the GPU has no timestamps.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Option<Self> {
        if !device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return None;
        }
        let set = device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("picture's time"),
            ty: wgpu::QueryType::Timestamp,
            count: 2,
        });
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("picture's time"),
                size: BYTES,
                usage,
                mapped_at_creation: false,
            })
        };
        let resolved = buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC);
        let free =
            (0..SLOTS).map(|_| buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)).collect();
        let (sender, receiver) = bounded(SLOTS);
        Some(Self { set, resolved, free, sender, receiver, ns_per_tick: queue.get_timestamp_period() })
    }

    /// The next completed measurement: points and milliseconds.
    pub fn try_recv(&mut self) -> Option<(u32, f32)> {
        while let Ok(Readback { buffer, points, mapped }) = self.receiver.try_recv() {
            let ticks = mapped
                .then(|| {
                    let view = buffer.get_mapped_range(..).ok()?;
                    let ticks: [u64; 2] = bytemuck::pod_read_unaligned(&view);
                    Some(ticks[1].saturating_sub(ticks[0]))
                })
                .flatten();
            buffer.unmap();
            self.free.push(buffer);
            if let Some(ticks) = ticks {
                return Some((points, ticks as f32 * self.ns_per_tick * 1e-6));
            }
        }
        None
    }

    /// The query set for the picture's passes, if a measurement is possible now.
    pub fn set(&self) -> Option<&wgpu::QuerySet> {
        (!self.free.is_empty()).then_some(&self.set)
    }

    /// Schedules reading the timestamps after the picture is drawn.
    pub fn finish(&mut self, encoder: &mut wgpu::CommandEncoder, points: u32) {
        let Some(buffer) = self.free.pop() else { return };
        encoder.resolve_query_set(&self.set, 0..2, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &buffer, 0, BYTES);
        let (sender, theirs) = (self.sender.clone(), Arc::new(buffer.clone()));
        encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Read, .., move |result| {
            // The meter may have been dropped.
            let _ = sender.send(Readback {
                buffer: wgpu::Buffer::clone(&theirs),
                points,
                mapped: result.is_ok(),
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a GPU with this time per point and this fixed time per frame.
    fn settle(pace: &FramePacer, points: u32, ns: f32, fixed_ms: f32) -> f32 {
        let mut ms = 0.0;
        for _ in 0..60 {
            let drawn = pace.budget().min(points);
            ms = fixed_ms + drawn as f32 * ns * 1e-6;
            pace.measured(drawn, ms);
        }
        ms
    }

    #[test]
    fn the_budget_converges_to_the_frame_time_goal() {
        for (ns, fixed) in [(30.0, 2.0), (300.0, 5.0), (3.0, 0.1), (1000.0, 0.0)] {
            for start in [20_000, 4_000_000] {
                let ms = settle(&FramePacer::new(start, || {}), u32::MAX, ns, fixed);
                assert!(
                    (GOAL_MS * 0.6..GOAL_MS * 1.2).contains(&ms),
                    "{ns} ns a point from {start}: {ms} ms"
                );
            }
        }
    }

    #[test]
    fn small_clouds_do_not_change_the_budget() {
        let pace = FramePacer::new(1_000_000, || {});
        settle(&pace, 5_000, 10.0, 1.0);
        assert_eq!(pace.budget(), 1_000_000);
    }

    #[test]
    fn frame_intervals_adjust_the_budget_without_gpu_timers() {
        let pace = FramePacer::new(100_000, || {});
        pace.frame_came(0.1);
        assert_eq!(pace.budget(), 75_000);
        pace.measures();
        pace.frame_came(0.1);
        assert_eq!(pace.budget(), 75_000);
    }
}
