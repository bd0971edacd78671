//! How long the GPU took for a picture, by its own clock.

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, bounded};
use eframe::egui_wgpu::wgpu;

/// Pictures that may be on their way at once; of more, some are not measured.
const SLOTS: usize = 4;

/// Two u64 timestamps: begin and end of a pass.
const BYTES: u64 = 16;

pub struct Meter {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    free: Vec<wgpu::Buffer>,
    sender: Sender<Read>,
    receiver: Receiver<Read>,
    ns_per_tick: f32,
}

struct Read {
    buffer: wgpu::Buffer,
    points: u32,
    mapped: bool,
}

impl Meter {
    /// `None` where the GPU does not tell the time.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Option<Self> {
        if !device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return None;
        }
        let set = device.create_query_set(&wgpu::QuerySetDescriptor { label: Some("picture's time"), ty: wgpu::QueryType::Timestamp, count: 2 });
        let buffer =
            |usage| device.create_buffer(&wgpu::BufferDescriptor { label: Some("picture's time"), size: BYTES, usage, mapped_at_creation: false });
        let resolved = buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC);
        let free = (0..SLOTS).map(|_| buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)).collect();
        let (sender, receiver) = bounded(SLOTS);
        Some(Self { set, resolved, free, sender, receiver, ns_per_tick: queue.get_timestamp_period() })
    }

    /// The next picture's points and milliseconds, of those that are done.
    pub fn try_recv(&mut self) -> Option<(u32, f32)> {
        while let Ok(Read { buffer, points, mapped }) = self.receiver.try_recv() {
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

    /// What the picture's passes write to, when one can be measured now.
    pub fn set(&self) -> Option<&wgpu::QuerySet> {
        (!self.free.is_empty()).then_some(&self.set)
    }

    /// Has the times read once the picture is done.
    pub fn finish(&mut self, encoder: &mut wgpu::CommandEncoder, points: u32) {
        let Some(buffer) = self.free.pop() else { return };
        encoder.resolve_query_set(&self.set, 0..2, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &buffer, 0, BYTES);
        let (sender, theirs) = (self.sender.clone(), Arc::new(buffer.clone()));
        encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Read, .., move |result| {
            // The meter may be gone by now.
            let _ = sender.send(Read { buffer: wgpu::Buffer::clone(&theirs), points, mapped: result.is_ok() });
        });
    }
}
