//! Points on the GPU: uploaded once per cloud and choice of axes, drawn as instanced squares into an own colour and
//! depth texture, which is then laid into the pane. The texture is drawn again only when something about it changed.

use std::collections::HashMap;
use std::sync::Arc;

use eframe::egui_wgpu::{self, CallbackResources, CallbackTrait, ScreenDescriptor};
use egui::Color32;

use super::camera::Projection;
use super::tokens::VIRIDIS;
use crate::cloud::PointCloud;

/// Positions to draw, in a random order, so that the first of them stand for all.
pub struct ViewPoints {
    /// Names the upload; never used twice.
    pub id: u64,
    /// Local coordinates along the chosen axes; a third of 0 for Plane.
    pub positions: Vec<[f32; 3]>,
}

impl ViewPoints {
    /// Gathers the axes of a cloud.
    pub fn new(id: u64, cloud: &PointCloud, axes: &[usize]) -> Self {
        let order = crate::cloud::Order::Shuffled.permutation(cloud.len(), 0x0076_6965_7773).unwrap_or_default();
        let positions = order
            .iter()
            .map(|&row| {
                let point = cloud.point(row as usize);
                std::array::from_fn(|at| axes.get(at).and_then(|&axis| point.get(axis)).copied().unwrap_or(0.0))
            })
            .collect();
        Self { id, positions }
    }
}

/// How the points of a layer look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// When the magnitude is not used.
    pub color: Color32,
    /// Diameter in pixels.
    pub size: f32,
    /// `magnitude = weights · (position, 1)`, 0 to 1 over viridis; `None` draws in [`Self::color`].
    pub magnitude: Option<[f32; 4]>,
}

/// One picture of points, for one pane.
pub struct PointsCallback {
    /// Which pane's texture.
    pub view: u64,
    /// What to draw: points, how many of them, and how they look. Later layers cover earlier ones.
    pub layers: Vec<(Arc<ViewPoints>, u32, Style)>,
    /// From where.
    pub projection: Projection,
    /// In pixels.
    pub size: [u32; 2],
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable, PartialEq)]
struct Uniforms {
    matrix: [[f32; 4]; 4],
    center: [f32; 4],
    color: [f32; 4],
    weights: [f32; 4],
    /// Width and height of the target, diameter (all in pixels), whether the magnitude is used.
    target: [f32; 4],
    viridis: [[f32; 4]; 16],
}

/// What a texture shows.
#[derive(PartialEq)]
struct Picture {
    size: [u32; 2],
    layers: Vec<(u64, u32, Uniforms)>,
}

struct Target {
    color: wgpu::TextureView,
    depth: wgpu::TextureView,
    bind: wgpu::BindGroup,
    size: [u32; 2],
    shown: Option<Picture>,
}

/// Everything of ours in egui's renderer.
struct Resources {
    points: wgpu::RenderPipeline,
    points_layout: wgpu::BindGroupLayout,
    blit: wgpu::RenderPipeline,
    blit_layout: wgpu::BindGroupLayout,
    uploads: HashMap<u64, wgpu::Buffer>,
    targets: HashMap<u64, Target>,
}

const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// The most points that one buffer of the device holds.
pub fn most_points(render_state: &egui_wgpu::RenderState) -> u64 {
    render_state.device.limits().max_buffer_size / size_of::<[f32; 3]>() as u64
}

/// Makes the pipelines.
pub fn install(render_state: &egui_wgpu::RenderState) {
    let device = &render_state.device;
    let points_layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("points"),
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
            ty: wgpu::BindingType::Buffer { ty: wgpu::BufferBindingType::Uniform, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        }],
    });
    let blit_layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("blit"),
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty: wgpu::BindingType::Texture {
                sample_type: wgpu::TextureSampleType::Float { filterable: false },
                view_dimension: wgpu::TextureViewDimension::D2,
                multisampled: false,
            },
            count: None,
        }],
    });
    let points = pipeline(
        device,
        "points",
        wgpu::include_wgsl!("../../assets/points.wgsl"),
        &points_layout,
        &[Some(wgpu::VertexBufferLayout {
            array_stride: size_of::<[f32; 3]>() as u64,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &wgpu::vertex_attr_array![0 => Float32x3],
        })],
        COLOR,
        true,
    );
    let blit = pipeline(device, "blit", wgpu::include_wgsl!("../../assets/blit.wgsl"), &blit_layout, &[], render_state.target_format, false);
    let resources = Resources { points, points_layout, blit, blit_layout, uploads: HashMap::new(), targets: HashMap::new() };
    render_state.renderer.write().callback_resources.insert(resources);
}

fn pipeline(
    device: &wgpu::Device,
    label: &str,
    shader: wgpu::ShaderModuleDescriptor<'_>,
    bindings: &wgpu::BindGroupLayout,
    buffers: &[Option<wgpu::VertexBufferLayout<'_>>],
    format: wgpu::TextureFormat,
    depth: bool,
) -> wgpu::RenderPipeline {
    let module = device.create_shader_module(shader);
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(label),
        bind_group_layouts: &[Some(bindings)],
        immediate_size: 0,
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(label),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("vertex"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers,
        },
        primitive: wgpu::PrimitiveState { topology: wgpu::PrimitiveTopology::TriangleStrip, ..Default::default() },
        depth_stencil: depth.then(|| wgpu::DepthStencilState {
            format: DEPTH,
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
            targets: &[Some(wgpu::ColorTargetState {
                format,
                blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn uniforms(projection: &Projection, style: &Style, size: [u32; 2]) -> Uniforms {
    let [x, y, z] = projection.center;
    let premultiplied = |color: Color32| color.to_array().map(|channel| f32::from(channel) / 255.0);
    Uniforms {
        matrix: projection.matrix,
        center: [x, y, z, 0.0],
        color: premultiplied(style.color),
        weights: style.magnitude.unwrap_or_default(),
        target: [size[0] as f32, size[1] as f32, style.size, if style.magnitude.is_some() { 1.0 } else { 0.0 }],
        viridis: VIRIDIS.map(premultiplied),
    }
}

impl Resources {
    fn upload(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, points: &ViewPoints) {
        self.uploads.entry(points.id).or_insert_with(|| {
            let bytes: &[u8] = bytemuck::cast_slice(&points.positions);
            let kept = &bytes[..bytes.len().min(device.limits().max_buffer_size as usize / 12 * 12)];
            let buffer = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("points"),
                size: kept.len() as u64,
                usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            queue.write_buffer(&buffer, 0, kept);
            buffer
        });
    }

    fn target(&mut self, device: &wgpu::Device, view: u64, size: [u32; 2]) -> &mut Target {
        if self.targets.get(&view).is_none_or(|target| target.size != size) {
            let texture = |format, usage| {
                device
                    .create_texture(&wgpu::TextureDescriptor {
                        label: Some("view"),
                        size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
                        mip_level_count: 1,
                        sample_count: 1,
                        dimension: wgpu::TextureDimension::D2,
                        format,
                        usage: usage | wgpu::TextureUsages::RENDER_ATTACHMENT,
                        view_formats: &[],
                    })
                    .create_view(&wgpu::TextureViewDescriptor::default())
            };
            let color = texture(COLOR, wgpu::TextureUsages::TEXTURE_BINDING);
            let depth = texture(DEPTH, wgpu::TextureUsages::RENDER_ATTACHMENT);
            let bind = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("blit"),
                layout: &self.blit_layout,
                entries: &[wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(&color) }],
            });
            self.targets.insert(view, Target { color, depth, bind, size, shown: None });
        }
        self.targets.get_mut(&view).expect("it was just made")
    }
}

impl CallbackTrait for PointsCallback {
    fn prepare(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        _screen: &ScreenDescriptor,
        encoder: &mut wgpu::CommandEncoder,
        resources: &mut CallbackResources,
    ) -> Vec<wgpu::CommandBuffer> {
        let Some(resources) = resources.get_mut::<Resources>() else { return Vec::new() };
        for (points, ..) in &self.layers {
            resources.upload(device, queue, points);
        }
        let layers: Vec<(u64, u32, Uniforms)> =
            self.layers.iter().map(|(points, count, style)| (points.id, *count, uniforms(&self.projection, style, self.size))).collect();
        let picture = Picture { size: self.size, layers };
        if resources.target(device, self.view, self.size).shown.as_ref() == Some(&picture) {
            return Vec::new();
        }
        let binds: Vec<wgpu::BindGroup> = picture
            .layers
            .iter()
            .map(|(.., uniforms)| {
                let buffer = device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("uniforms"),
                    size: size_of::<Uniforms>() as u64,
                    usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                });
                queue.write_buffer(&buffer, 0, bytemuck::bytes_of(uniforms));
                device.create_bind_group(&wgpu::BindGroupDescriptor {
                    label: Some("points"),
                    layout: &resources.points_layout,
                    entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
                })
            })
            .collect();
        let target = &resources.targets[&self.view];
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("points"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &target.color,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT), store: wgpu::StoreOp::Store },
                depth_slice: None,
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &target.depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_pipeline(&resources.points);
        for ((id, count, _), bind) in picture.layers.iter().zip(&binds) {
            let buffer = &resources.uploads[id];
            pass.set_bind_group(0, bind, &[]);
            pass.set_vertex_buffer(0, buffer.slice(..));
            pass.draw(0..4, 0..(*count).min((buffer.size() / 12) as u32));
        }
        drop(pass);
        // Uploads that no pane draws any more belong to clouds that are gone.
        let drawn: Vec<u64> = picture.layers.iter().map(|(id, ..)| *id).collect();
        resources.target(device, self.view, self.size).shown = Some(picture);
        let Resources { uploads, targets, .. } = resources;
        uploads.retain(|id, _| {
            drawn.contains(id)
                || targets.values().any(|target| target.shown.as_ref().is_some_and(|shown| shown.layers.iter().any(|(other, ..)| other == id)))
        });
        Vec::new()
    }

    fn paint(&self, _info: egui::PaintCallbackInfo, pass: &mut wgpu::RenderPass<'static>, resources: &CallbackResources) {
        let Some(resources) = resources.get::<Resources>() else { return };
        let Some(target) = resources.targets.get(&self.view) else { return };
        pass.set_pipeline(&resources.blit);
        pass.set_bind_group(0, &target.bind, &[]);
        pass.draw(0..4, 0..1);
    }
}
