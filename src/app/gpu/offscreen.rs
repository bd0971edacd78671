//! A graphics adapter without a window: for the bench, and for tests.

use std::time::Duration;

use anyhow::Context as _;
use eframe::egui_wgpu::wgpu;

/// How long a frame may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The adapter, and its queue.
pub struct Offscreen {
    pub adapter: wgpu::Adapter,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
}

impl Offscreen {
    /// Opens the fastest adapter, or the one that a processor plays.
    ///
    /// # Errors
    /// When there is none, or it cannot be opened.
    pub fn open(software: bool) -> anyhow::Result<Self> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN | wgpu::Backends::GL));
        let rank = |adapter: &wgpu::Adapter| {
            let info = adapter.get_info();
            let kind = match info.device_type {
                wgpu::DeviceType::DiscreteGpu => 0,
                wgpu::DeviceType::IntegratedGpu | wgpu::DeviceType::VirtualGpu | wgpu::DeviceType::Other => 1,
                wgpu::DeviceType::Cpu => 2,
            };
            (if software { 2 - kind } else { kind }, info.backend != wgpu::Backend::Vulkan)
        };
        let adapter = adapters.into_iter().min_by_key(rank).context("no graphics adapter")?;
        let (device, queue) =
            pollster::block_on(adapter.request_device(&super::device_descriptor(&adapter))).context("cannot open the graphics adapter")?;
        Ok(Self { adapter, device, queue })
    }

    /// Runs what was encoded, and waits until it is done.
    ///
    /// # Errors
    /// When the adapter does not finish.
    pub fn run(&self, encoder: wgpu::CommandEncoder) -> anyhow::Result<()> {
        let submission_index = Some(self.queue.submit([encoder.finish()]));
        self.device.poll(wgpu::PollType::Wait { submission_index, timeout: Some(PATIENCE) }).context("the graphics adapter does not finish")?;
        Ok(())
    }

    pub fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    }

    /// The pixels of a texture of four bytes each, row by row.
    ///
    /// # Errors
    /// When the adapter does not finish.
    pub fn pixels(&self, texture: &wgpu::Texture) -> anyhow::Result<Vec<[u8; 4]>> {
        let (width, height) = (texture.width(), texture.height());
        let stride = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("pixels"),
            size: u64::from(stride) * u64::from(height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.encoder();
        encoder.copy_texture_to_buffer(
            texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &buffer,
                layout: wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(stride), rows_per_image: None },
            },
            texture.size(),
        );
        encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Read, .., |_| {});
        self.run(encoder)?;
        let bytes = buffer.get_mapped_range(..).context("the picture cannot be read back")?;
        let rows = bytes.chunks_exact(stride as usize);
        Ok(rows.flat_map(|row| bytemuck::cast_slice::<u8, [u8; 4]>(&row[..width as usize * 4]).to_vec()).collect())
    }
}
