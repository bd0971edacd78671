//! The small numbers of one picture, in one buffer.

use eframe::egui_wgpu::wgpu;

/// What every adapter aligns uniforms to.
const ALIGNMENT: usize = 256;

/// Packs uniforms into one buffer, each at an aligned offset.
#[derive(Default)]
pub struct Uniforms {
    bytes: Vec<u8>,
}

/// Byte range of one uniform in the buffer.
#[derive(Clone, Copy)]
pub struct Slot {
    offset: u64,
    size: u64,
}

impl Uniforms {
    pub fn push(&mut self, uniform: &impl bytemuck::Pod) -> Slot {
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(bytemuck::bytes_of(uniform));
        let size = self.bytes.len() - offset;
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
        Slot { offset: offset as u64, size: size as u64 }
    }

    /// Brings them to the GPU.
    pub fn upload(&self, device: &wgpu::Device, queue: &wgpu::Queue) -> wgpu::Buffer {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("uniforms"),
            size: self.bytes.len().max(ALIGNMENT) as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        queue.write_buffer(&buffer, 0, &self.bytes);
        buffer
    }
}

impl Slot {
    /// For a bind group.
    pub fn of(self, buffer: &wgpu::Buffer) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset: self.offset, size: wgpu::BufferSize::new(self.size) })
    }
}
