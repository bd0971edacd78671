//! Draws points with the rasteriser, one square each, for adapters without compute shaders. In Plane, heavily
//! overlapping points are translucent, so that density shows.

use std::collections::HashMap;

use eframe::egui_wgpu::wgpu;

use super::DrawContext;
use super::drawing::Drawing;
use super::pipelines::{self, Binding, UniformPacker};
use super::splat::view_uniform;
use super::target::{COLOR, Target, texture};

const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// The pipeline, and the depth texture of each picture.
pub struct QuadRenderer {
    points: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
    depths: HashMap<u64, ([u32; 2], wgpu::TextureView)>,
}

impl QuadRenderer {
    pub fn new(device: &wgpu::Device) -> Self {
        let layout = pipelines::layout(
            device,
            "quads",
            wgpu::ShaderStages::VERTEX_FRAGMENT,
            &[Binding::Uniform, Binding::Uniform],
        );
        let source =
            concat!(include_str!("../../../assets/look.wgsl"), include_str!("../../../assets/quads.wgsl"));
        let instances = |stride, attributes| {
            Some(wgpu::VertexBufferLayout {
                array_stride: stride,
                step_mode: wgpu::VertexStepMode::Instance,
                attributes,
            })
        };
        let buffers = [
            instances(12, const { &wgpu::vertex_attr_array![0 => Float32x3] }),
            instances(4, const { &wgpu::vertex_attr_array![1 => Float32] }),
        ];
        let blend = Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING);
        let points = pipelines::render(device, "quads", source, &layout, &buffers, COLOR, blend, Some(DEPTH));
        Self { points, layout, depths: HashMap::new() }
    }

    /// Draws what is planned into a picture.
    pub(super) fn draw(&mut self, share: DrawContext<'_>) {
        let DrawContext { device, queue, encoder, drawing, plan, target, times } = share;
        if self.depths.get(&drawing.view).is_none_or(|(size, _)| *size != drawing.size) {
            let depth = texture(device, drawing.size, DEPTH, wgpu::TextureUsages::empty());
            self.depths.insert(drawing.view, (drawing.size, depth));
        }
        let looks = drawing.looks();
        let mut uniforms = UniformPacker::default();
        let mut draws = Vec::new();
        for batch in &plan.batches {
            let layer = &drawing.layers[batch.layer];
            let mut look = looks.layer(batch.layer);
            look.opacity *= opacity(drawing, batch.layer, target);
            let look = uniforms.push(&look);
            for (part, segment) in layer.points.buffers().segments().iter().enumerate() {
                let begin = batch.begin.max(segment.first);
                let end = batch.end.min(segment.first + segment.count);
                if begin >= end {
                    continue;
                }
                let part_drawn = begin - segment.first..end - segment.first;
                let view = uniforms.push(&view_uniform(drawing, batch.layer, 0, part_drawn.clone(), 0));
                // Without values, any buffer of sufficient length works, since it is not read.
                let values = layer.values().map_or(&segment.buffer, |values| &values.segments()[part].buffer);
                draws.push((look, view, &segment.buffer, values, part_drawn));
            }
        }
        let uniforms = uniforms.upload(device, queue, wgpu::BufferUsages::UNIFORM);
        let depth_ops = if plan.fresh { wgpu::LoadOp::Clear(1.0) } else { wgpu::LoadOp::Load };
        let color_ops =
            if plan.fresh { wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT) } else { wgpu::LoadOp::Load };
        let timestamps = times.map(|query_set| wgpu::RenderPassTimestampWrites {
            query_set,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        });
        let depth = Some((&self.depths[&drawing.view].1, depth_ops));
        let mut pass = pipelines::pass(encoder, &target.color, color_ops, depth, timestamps);
        pass.set_pipeline(&self.points);
        for (look, view, places, values, part) in draws {
            let bindings = [look.binding(&uniforms), view.binding(&uniforms)];
            let bind = pipelines::bind(device, &self.layout, bindings);
            pass.set_bind_group(0, &bind, &[]);
            pass.set_vertex_buffer(0, places.slice(..));
            pass.set_vertex_buffer(1, values.slice(..));
            pass.draw(0..4, part);
        }
    }
}

/// The opacity of points that overlap in Plane.
fn opacity(drawing: &Drawing, layer: usize, target: &Target) -> f32 {
    if drawing.dense.is_none() || layer != 0 {
        return 1.0;
    }
    let points =
        if drawing.moving { target.drawn[layer] } else { drawing.layers[layer].points.buffers().resident() };
    let area = (drawing.size[0] * drawing.size[1]) as f32;
    let covered = drawing.visible * points as f32 * drawing.layers[layer].diameter.powi(2) / area;
    (1.2 / covered.max(1e-6)).clamp(0.2, 1.0)
}
