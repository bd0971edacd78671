//! Scenes in egui's frames.

use std::sync::Arc;

use eframe::egui_wgpu::{self, CallbackResources, CallbackTrait, ScreenDescriptor, wgpu};

use super::{Drawing, Method, Pace, Renderer};

/// One picture of points, for one pane.
pub struct PointsCallback(pub Drawing);

/// Makes the renderer, and gives it to egui's.
pub fn install(render_state: &egui_wgpu::RenderState, pace: Arc<Pace>) {
    let egui_wgpu::RenderState { adapter, device, queue, target_format, .. } = render_state;
    let renderer = Renderer::new(device, queue, Method::best(device, adapter), *target_format, pace);
    render_state.renderer.write().callback_resources.insert(renderer);
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
        if let Some(renderer) = resources.get_mut::<Renderer>() {
            renderer.draw(device, queue, encoder, &self.0);
        }
        Vec::new()
    }

    fn paint(&self, _info: egui::PaintCallbackInfo, pass: &mut wgpu::RenderPass<'static>, resources: &CallbackResources) {
        if let Some(renderer) = resources.get::<Renderer>() {
            renderer.blit(self.0.view, pass);
        }
    }
}
