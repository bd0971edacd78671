//! wgpu descriptors with our common settings.

use eframe::egui_wgpu::wgpu;

/// One binding of group 0.
#[derive(Clone, Copy)]
pub enum Binding {
    Uniform,
    Storage { read_only: bool },
    Texture,
}

/// Layout of bindings 0, 1, … of group 0.
pub fn layout(
    device: &wgpu::Device,
    label: &str,
    visibility: wgpu::ShaderStages,
    entries: &[Binding],
) -> wgpu::BindGroupLayout {
    let buffer = |ty| wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
    let entries: Vec<wgpu::BindGroupLayoutEntry> = (0..)
        .zip(entries)
        .map(|(binding, entry)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility,
            ty: match *entry {
                Binding::Uniform => buffer(wgpu::BufferBindingType::Uniform),
                Binding::Storage { read_only } => buffer(wgpu::BufferBindingType::Storage { read_only }),
                Binding::Texture => wgpu::BindingType::Texture {
                    sample_type: wgpu::TextureSampleType::Float { filterable: false },
                    view_dimension: wgpu::TextureViewDimension::D2,
                    multisampled: false,
                },
            },
            count: None,
        })
        .collect();
    device
        .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries: &entries })
}

/// Resources for bindings 0, 1, ….
pub fn bind<const N: usize>(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    resources: [wgpu::BindingResource<'_>; N],
) -> wgpu::BindGroup {
    let entries: Vec<wgpu::BindGroupEntry<'_>> =
        (0..).zip(resources).map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }).collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
}

fn module(device: &wgpu::Device, label: &str, source: &str) -> wgpu::ShaderModule {
    device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(label),
        source: wgpu::ShaderSource::Wgsl(source.into()),
    })
}

fn pipeline_layout(
    device: &wgpu::Device,
    label: &str,
    bindings: &wgpu::BindGroupLayout,
) -> wgpu::PipelineLayout {
    device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(label),
        bind_group_layouts: &[Some(bindings)],
        immediate_size: 0,
    })
}

/// A compute shader with one entry point.
pub fn compute(
    device: &wgpu::Device,
    label: &str,
    source: &str,
    bindings: &wgpu::BindGroupLayout,
) -> wgpu::ComputePipeline {
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(label),
        layout: Some(&pipeline_layout(device, label, bindings)),
        module: &module(device, label, source),
        entry_point: None,
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    })
}

/// A strip of two triangles through `vertex` and `fragment`.
#[allow(clippy::too_many_arguments, reason = "a pipeline has this many sides")]
pub fn render(
    device: &wgpu::Device,
    label: &str,
    source: &str,
    bindings: &wgpu::BindGroupLayout,
    buffers: &[Option<wgpu::VertexBufferLayout<'_>>],
    format: wgpu::TextureFormat,
    blend: Option<wgpu::BlendState>,
    depth: Option<wgpu::TextureFormat>,
) -> wgpu::RenderPipeline {
    let module = module(device, label, source);
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(label),
        layout: Some(&pipeline_layout(device, label, bindings)),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("vertex"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers,
        },
        primitive: wgpu::PrimitiveState {
            topology: wgpu::PrimitiveTopology::TriangleStrip,
            ..Default::default()
        },
        depth_stencil: depth.map(|format| wgpu::DepthStencilState {
            format,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::LessEqual),
            stencil: wgpu::StencilState::default(),
            bias: wgpu::DepthBiasState::default(),
        }),
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("fragment"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[Some(wgpu::ColorTargetState { format, blend, write_mask: wgpu::ColorWrites::ALL })],
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// A pass into one texture, optionally with depth.
pub fn pass<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    color: &'a wgpu::TextureView,
    load: wgpu::LoadOp<wgpu::Color>,
    depth: Option<(&'a wgpu::TextureView, wgpu::LoadOp<f32>)>,
    timestamp_writes: Option<wgpu::RenderPassTimestampWrites<'a>>,
) -> wgpu::RenderPass<'a> {
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("points"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: color,
            resolve_target: None,
            ops: wgpu::Operations { load, store: wgpu::StoreOp::Store },
            depth_slice: None,
        })],
        depth_stencil_attachment: depth.map(|(view, load)| wgpu::RenderPassDepthStencilAttachment {
            view,
            depth_ops: Some(wgpu::Operations { load, store: wgpu::StoreOp::Store }),
            stencil_ops: None,
        }),
        timestamp_writes,
        ..Default::default()
    })
}

// The uniforms of one picture, in one buffer.

/// The uniform alignment that every adapter supports.
const ALIGNMENT: usize = 256;

/// Packs uniforms into one buffer, each at an aligned offset.
#[derive(Default)]
pub struct UniformPacker {
    bytes: Vec<u8>,
}

/// Byte range of one uniform in the buffer.
#[derive(Clone, Copy)]
pub struct UniformRange {
    offset: u64,
    size: u64,
}

impl UniformPacker {
    pub fn push(&mut self, uniform: &impl bytemuck::Pod) -> UniformRange {
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(bytemuck::bytes_of(uniform));
        let size = self.bytes.len() - offset;
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
        UniformRange { offset: offset as u64, size: size as u64 }
    }

    /// Uploads the uniforms to the GPU, into a buffer for this kind of binding.
    pub fn upload(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        usage: wgpu::BufferUsages,
    ) -> wgpu::Buffer {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("uniforms"),
            size: self.bytes.len().max(ALIGNMENT) as u64,
            usage: usage | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        queue.write_buffer(&buffer, 0, &self.bytes);
        buffer
    }
}

impl UniformRange {
    /// The binding of this uniform, for a bind group.
    pub fn binding(self, buffer: &wgpu::Buffer) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer,
            offset: self.offset,
            size: wgpu::BufferSize::new(self.size),
        })
    }
}
