//! Draws points with compute shaders: atomics find the frontmost point of each pixel, and a final pass
//! colours it. Colours can therefore change without redrawing points, and points can be added over several
//! frames.

use std::collections::HashMap;

use eframe::egui_wgpu::wgpu;

use super::DrawContext;
use super::drawing::{Drawing, ViewUniform};
use super::pipelines::{self, Binding, UniformPacker, UniformRange};
use super::store::GROUP;
use super::target::COLOR;

/// Number of workgroups that search for the pixel with the most points.
const SEARCH_GROUPS: u32 = 64;

/// The pipelines, and the pixel buffers of each picture.
pub struct SplatRenderer {
    splat: wgpu::ComputePipeline,
    splat_layout: wgpu::BindGroupLayout,
    most: wgpu::ComputePipeline,
    most_layout: wgpu::BindGroupLayout,
    resolve: wgpu::RenderPipeline,
    resolve_layout: wgpu::BindGroupLayout,
    pixels: HashMap<u64, PixelBuffers>,
}

/// Buffers with an entry per pixel.
struct PixelBuffers {
    size: [u32; 2],
    /// Nearness, or number of points.
    depths: wgpu::Buffer,
    /// The frontmost point, numbered over all layers of the drawing.
    ids: wgpu::Buffer,
    /// The maximum number of points of a pixel.
    most: wgpu::Buffer,
}

impl PixelBuffers {
    fn new(device: &wgpu::Device, size: [u32; 2]) -> Self {
        let buffer = |bytes| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("pixels"),
                size: bytes,
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let bytes = u64::from(size[0]) * u64::from(size[1]) * 4;
        Self { size, depths: buffer(bytes), ids: buffer(bytes), most: buffer(4) }
    }
}

/// Whether the device supports this method.
pub fn is_supported(device: &wgpu::Device, adapter: &wgpu::Adapter) -> bool {
    let limits = device.limits();
    let flags = adapter.get_downlevel_capabilities().flags;
    flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS | wgpu::DownlevelFlags::FRAGMENT_STORAGE)
        && limits.max_storage_buffers_per_shader_stage >= 5
        && limits.max_compute_invocations_per_workgroup >= GROUP
        && limits.max_compute_workgroups_per_dimension >= u32::from(u16::MAX)
}

impl SplatRenderer {
    pub fn new(device: &wgpu::Device) -> Self {
        use wgpu::ShaderStages as Stages;
        let splat_layout = pipelines::layout(
            device,
            "splat",
            Stages::COMPUTE,
            &[
                Binding::Storage { read_only: true },
                Binding::Storage { read_only: true },
                Binding::Storage { read_only: false },
                Binding::Storage { read_only: false },
            ],
        );
        let most_layout = pipelines::layout(
            device,
            "most",
            Stages::COMPUTE,
            &[Binding::Storage { read_only: true }, Binding::Storage { read_only: false }],
        );
        let resolve_layout = pipelines::layout(
            device,
            "resolve",
            Stages::FRAGMENT,
            &[Binding::Storage { read_only: true }; 5],
        );
        let resolve =
            concat!(include_str!("../../../assets/look.wgsl"), include_str!("../../../assets/resolve.wgsl"));
        Self {
            splat: pipelines::compute(
                device,
                "splat",
                include_str!("../../../assets/splat.wgsl"),
                &splat_layout,
            ),
            most: pipelines::compute(device, "most", include_str!("../../../assets/most.wgsl"), &most_layout),
            resolve: pipelines::render(device, "resolve", resolve, &resolve_layout, &[], COLOR, None, None),
            splat_layout,
            most_layout,
            resolve_layout,
            pixels: HashMap::new(),
        }
    }

    /// Draws what is planned into a picture, and colours it.
    pub(super) fn draw(&mut self, share: DrawContext<'_>) {
        let DrawContext { device, queue, encoder, drawing, plan, target, times } = share;
        if self.pixels.get(&drawing.view).is_none_or(|pixels| pixels.size != drawing.size) {
            self.pixels.insert(drawing.view, PixelBuffers::new(device, drawing.size));
        }
        let pixels = &self.pixels[&drawing.view];
        if plan.fresh {
            encoder.clear_buffer(&pixels.depths, 0, None);
            encoder.clear_buffer(&pixels.ids, 0, None);
        }
        encoder.clear_buffer(&pixels.most, 0, None);

        let firsts: Vec<u32> = first_ids(drawing);
        let mut uniforms = UniformPacker::default();
        let steps: &[u32] = if drawing.dense.is_some() { &[2] } else { &[0, 1] };
        let mut splats = Vec::new();
        for batch in &plan.batches {
            let layer = &drawing.layers[batch.layer];
            for &step in steps {
                for segment in layer.points.buffers().segments() {
                    let begin = batch.begin.max(segment.first);
                    let end = batch.end.min(segment.first + segment.count);
                    if begin >= end {
                        continue;
                    }
                    let view = view_uniform(
                        drawing,
                        batch.layer,
                        firsts[batch.layer] + segment.first,
                        begin - segment.first..end - segment.first,
                        step,
                    );
                    splats.push((uniforms.push(&view), &segment.buffer, end - begin));
                }
            }
        }
        let looks = drawing.looks();
        let mut resolves: Vec<(UniformRange, &wgpu::Buffer)> = Vec::new();
        for (at, layer) in drawing.layers.iter().enumerate() {
            for (part, segment) in layer.points.buffers().segments().iter().enumerate() {
                if segment.first >= target.drawn[at] {
                    break;
                }
                let mut look = looks.layer(at);
                (look.first, look.count) = (firsts[at] + segment.first, segment.count);
                let values = layer.values().map_or(&pixels.ids, |values| &values.segments()[part].buffer);
                resolves.push((uniforms.push(&look), values));
            }
        }
        let uniforms = uniforms.upload(device, queue, wgpu::BufferUsages::STORAGE);

        let timestamps = times.map(|query_set| wgpu::ComputePassTimestampWrites {
            query_set,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: None,
        });
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("splat"),
            timestamp_writes: timestamps,
        });
        pass.set_pipeline(&self.splat);
        for (view, places, count) in splats {
            let bind = pipelines::bind(
                device,
                &self.splat_layout,
                [
                    view.binding(&uniforms),
                    places.as_entire_binding(),
                    pixels.depths.as_entire_binding(),
                    pixels.ids.as_entire_binding(),
                ],
            );
            pass.set_bind_group(0, &bind, &[]);
            pass.dispatch_workgroups(count.div_ceil(GROUP), 1, 1);
        }
        if drawing.dense.is_some() {
            let bind = pipelines::bind(
                device,
                &self.most_layout,
                [pixels.depths.as_entire_binding(), pixels.most.as_entire_binding()],
            );
            pass.set_pipeline(&self.most);
            pass.set_bind_group(0, &bind, &[]);
            pass.dispatch_workgroups(SEARCH_GROUPS, 1, 1);
        }
        drop(pass);

        let timestamps = times.map(|query_set| wgpu::RenderPassTimestampWrites {
            query_set,
            beginning_of_pass_write_index: None,
            end_of_pass_write_index: Some(1),
        });
        let clear = wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT);
        let mut pass = pipelines::pass(encoder, &target.color, clear, None, timestamps);
        pass.set_pipeline(&self.resolve);
        for (look, values) in resolves {
            let bind = pipelines::bind(
                device,
                &self.resolve_layout,
                [
                    look.binding(&uniforms),
                    values.as_entire_binding(),
                    pixels.depths.as_entire_binding(),
                    pixels.ids.as_entire_binding(),
                    pixels.most.as_entire_binding(),
                ],
            );
            pass.set_bind_group(0, &bind, &[]);
            pass.draw(0..4, 0..1);
        }
    }
}

/// The id of each layer's first point; ids increase with layers.
fn first_ids(drawing: &Drawing) -> Vec<u32> {
    let resident = drawing.layers.iter().map(|layer| layer.points.buffers().resident());
    resident.scan(0, |next, resident| Some(std::mem::replace(next, *next + resident))).collect()
}

/// The shaders' uniform for a part of a layer.
pub fn view_uniform(
    drawing: &Drawing,
    layer: usize,
    first: u32,
    part: std::ops::Range<u32>,
    step: u32,
) -> ViewUniform {
    let of = &drawing.layers[layer];
    let [x, y, z] = of.projection.center;
    ViewUniform {
        matrix: of.projection.matrix,
        center: [x, y, z, 0.0],
        size: drawing.size,
        diameter: of.diameter,
        first,
        begin: part.start,
        end: part.end,
        rank: layer as u32,
        step,
    }
}
