//! Uploads by pane: a cloud of up to three dimensions is uploaded once for all panes, a larger one once per
//! choice of axes.

use std::collections::HashMap;
use std::sync::Arc;

use eframe::egui_wgpu::{self, CallbackResources, CallbackTrait, ScreenDescriptor, wgpu};
use egui::Color32;

use super::store::{Points, RowBuffers, Rows, Store};
use super::{Drawing, FIRST_BUDGET, FIRST_BUDGET_SOFTWARE, FramePacer, LayerColors, Method, Renderer};
use crate::app::features::color::state::{ColorMap, PointValues, Scale};
use crate::app::look::Paint;
use crate::cloud::PointCloud;

/// Identifies an upload.
#[derive(Clone)]
struct Key {
    cloud: Arc<PointCloud>,
    /// Empty if all dimensions are uploaded.
    axes: Vec<usize>,
    rows: Option<Arc<[u32]>>,
}

impl Key {
    fn matches(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.cloud, &other.cloud)
            && self.axes == other.axes
            && same_rows(self.rows.as_ref(), other.rows.as_ref())
    }
}

fn same_rows(one: Option<&Arc<[u32]>>, other: Option<&Arc<[u32]>>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        _ => false,
    }
}

/// Values of rows.
#[derive(Clone)]
struct UploadedValues {
    values_id: u64,
    rows: Option<Arc<[u32]>>,
    buffers: Arc<RowBuffers>,
}

impl UploadedValues {
    fn matches(&self, values_id: u64, rows: Option<&Arc<[u32]>>) -> bool {
        self.values_id == values_id && same_rows(self.rows.as_ref(), rows)
    }
}

/// Values of a slot: those shown, and those being uploaded to replace them.
#[derive(Default)]
struct ValueSlot {
    shown: Option<UploadedValues>,
    pending: Option<UploadedValues>,
}

/// The graphics adapter and its contents.
pub struct Gpu {
    store: Store,
    pace: Arc<FramePacer>,
    points: HashMap<u64, (Key, Arc<Points>)>,
    colors: HashMap<u64, ValueSlot>,
    height: Option<(Arc<PointCloud>, usize, Arc<PointValues>)>,
    heights: u64,
}

impl Gpu {
    /// Installs the renderer. `wake` is called when there is more to draw.
    pub fn new(
        render_state: &egui_wgpu::RenderState,
        wake: impl Fn() + Send + Sync + Clone + 'static,
    ) -> Self {
        let software = render_state.adapter.get_info().device_type == wgpu::DeviceType::Cpu;
        let pace = Arc::new(FramePacer::new(
            if software { FIRST_BUDGET_SOFTWARE } else { FIRST_BUDGET },
            wake.clone(),
        ));
        install(render_state, Arc::clone(&pace));
        let store = Store::new(render_state.device.clone(), render_state.queue.clone(), wake);
        Self { store, pace, points: HashMap::new(), colors: HashMap::new(), height: None, heights: 0 }
    }

    /// The frame budget, and the progress of pictures.
    pub fn pace(&self) -> &FramePacer {
        &self.pace
    }

    /// Frees everything that belongs to the shown cloud.
    pub fn forget(&mut self) {
        self.points.clear();
        self.colors.clear();
        self.height = None;
        self.pace.forget();
    }

    /// The points of a cloud, or some rows of it, for a slot. A slot has one upload at a time; slots share
    /// equal uploads.
    pub fn points(
        &mut self,
        slot: u64,
        cloud: &Arc<PointCloud>,
        axes: &[usize],
        rows: Option<&Arc<[u32]>>,
    ) -> Arc<Points> {
        let key = Key {
            cloud: Arc::clone(cloud),
            axes: if cloud.dims() > 3 { axes.to_vec() } else { Vec::new() },
            rows: rows.map(Arc::clone),
        };
        if let Some((uploaded, points)) = self.points.get(&slot)
            && uploaded.matches(&key)
        {
            return Arc::clone(points);
        }
        let shared =
            self.points.values().find(|(other, _)| other.matches(&key)).map(|(_, points)| Arc::clone(points));
        let points = shared.unwrap_or_else(|| {
            Arc::new(self.store.points(&selected(cloud, rows), cloud.dims(), places(cloud, axes)))
        });
        self.points.insert(slot, (key, Arc::clone(&points)));
        points
    }

    /// Colours by height: an axis of the cloud over the range of most points. Cached per cloud and axis.
    pub fn height(&mut self, cloud: &Arc<PointCloud>, axis: usize, dark: bool) -> Option<Paint> {
        let [low, high] = (axis < cloud.dims()).then(|| cloud.bulk(axis))?.map(|end| end as f32);
        let made = self.height.as_ref().filter(|(of, along, _)| Arc::ptr_eq(of, cloud) && *along == axis);
        let values = made.map(|(.., values)| Arc::clone(values)).unwrap_or_else(|| {
            self.heights += 1;
            let values = (0..cloud.len()).map(|row| cloud.point(row)[axis]).collect();
            // Counted downwards, because other ids count upwards.
            Arc::new(PointValues { id: u64::MAX - self.heights, values })
        });
        self.height = Some((Arc::clone(cloud), axis, Arc::clone(&values)));
        let scale = Scale { map: ColorMap::Viridis, low, high, log: false, dark };
        Some(Paint::Scaled(values, scale, Color32::TRANSPARENT))
    }

    /// Frees a slot's buffers.
    pub fn clear(&mut self, slot: u64) {
        self.points.remove(&slot);
        self.colors.remove(&slot);
    }

    /// The colours of a slot's points. While new values are being uploaded, the previous ones are shown.
    pub fn ink(
        &mut self,
        slot: u64,
        cloud: &Arc<PointCloud>,
        rows: Option<&Arc<[u32]>>,
        paint: &Paint,
    ) -> LayerColors {
        match paint {
            Paint::Flat(color) => {
                self.colors.remove(&slot);
                LayerColors::Flat(*color)
            }
            Paint::Scaled(values, _, missing) if values.values.len() != cloud.len() => {
                LayerColors::Flat(*missing)
            }
            Paint::Scaled(values, scale, missing) => match self.values(slot, cloud, rows, values) {
                Some(buffers) => LayerColors::Scaled(buffers, *scale, *missing),
                None => LayerColors::Flat(*missing),
            },
        }
    }

    fn values(
        &mut self,
        slot: u64,
        cloud: &Arc<PointCloud>,
        rows: Option<&Arc<[u32]>>,
        values: &Arc<PointValues>,
    ) -> Option<Arc<RowBuffers>> {
        let shared = self
            .colors
            .values()
            .flat_map(|colors| [&colors.shown, &colors.pending])
            .flatten()
            .find(|coloring| coloring.matches(values.id, rows))
            .cloned();
        let selected = selected(cloud, rows);
        let colors = self.colors.entry(slot).or_default();
        // The rows changed, so the values would belong to other points.
        if colors.shown.as_ref().is_some_and(|shown| !same_rows(shown.rows.as_ref(), rows)) {
            *colors = ValueSlot::default();
        }
        if colors.pending.as_ref().is_some_and(|pending| pending.buffers.is_complete()) {
            colors.shown = colors.pending.take();
        }
        let known =
            [&colors.shown, &colors.pending].into_iter().flatten().any(|of| of.matches(values.id, rows));
        // A running upload is completed first, so that constantly changing values are seen to change.
        if !known && colors.pending.is_none() {
            let pending = shared.unwrap_or_else(|| {
                let from = Arc::clone(values);
                let buffers = self.store.values(&selected, move |row| from.values[row as usize]);
                UploadedValues { values_id: values.id, rows: rows.map(Arc::clone), buffers }
            });
            if pending.buffers.is_complete() {
                colors.shown = Some(pending);
            } else {
                colors.pending = Some(pending);
            }
        }
        colors.shown.as_ref().map(|shown| Arc::clone(&shown.buffers))
    }
}

/// A row's coordinates on the GPU: all if there are at most three, else those along some axes.
pub fn places(cloud: &Arc<PointCloud>, axes: &[usize]) -> impl Fn(u32) -> [f32; 3] + Send + Sync + 'static {
    let from = Arc::clone(cloud);
    let axes: Vec<usize> = if cloud.dims() > 3 { axes.to_vec() } else { (0..cloud.dims()).collect() };
    move |row| {
        let point = from.point(row as usize);
        std::array::from_fn(|at| axes.get(at).and_then(|&axis| point.get(axis)).copied().unwrap_or(0.0))
    }
}

fn selected(cloud: &PointCloud, rows: Option<&Arc<[u32]>>) -> Rows {
    rows.map_or(Rows::All(cloud.len() as u32), |rows| Rows::Some(Arc::clone(rows)))
}

// Drawing within egui's frames.

pub struct PointsCallback(pub Drawing);

/// Creates the renderer and registers it with egui's.
pub fn install(render_state: &egui_wgpu::RenderState, pace: Arc<FramePacer>) {
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

    fn paint(
        &self,
        _info: egui::PaintCallbackInfo,
        pass: &mut wgpu::RenderPass<'static>,
        resources: &CallbackResources,
    ) {
        if let Some(renderer) = resources.get::<Renderer>() {
            renderer.blit(self.0.view, pass);
        }
    }
}
