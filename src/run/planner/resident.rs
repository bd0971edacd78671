//! Which engines have loaded a set of points, and how long queries of them were waited for. Recorded in the points' cache, so that it is
//! dropped with the engines' data.

use std::sync::Arc;

use crate::knn::{DeviceId, EngineId, Points};

struct TakenIn(Vec<EngineId>);

/// Whether an engine has loaded the points on a device.
pub fn is_taken_in(points: &Points, engine: EngineId, device: DeviceId) -> bool {
    points.cache().get(device, |taken: &TakenIn| taken.0.contains(&engine)).is_some()
}

/// Records that an engine has loaded the points on a device.
pub fn taken_in(points: &Points, engine: EngineId, device: DeviceId) {
    let mut engines = points.cache().get(device, |_: &TakenIn| true).map_or_else(Vec::new, |taken| taken.0.clone());
    if !engines.contains(&engine) {
        engines.push(engine);
        points.cache().insert(device, Arc::new(TakenIn(engines)));
    }
}

/// Milliseconds that single queries were waited for.
struct Waited(f64);

/// How long single queries of these points were searched so far, one after the other, in milliseconds.
pub fn waited_ms(points: &Points) -> f64 {
    points.cache().get(DeviceId::Cpu, |_: &Waited| true).map_or(0.0, |waited| waited.0)
}

/// Drops what was made of the points, and how long they were waited for with it; says whether anything was made.
pub fn release_made(points: &Points) -> bool {
    points.cache().remove::<Waited>(DeviceId::Cpu);
    points.cache().clear()
}

/// Adds the milliseconds of another.
pub fn waited(points: &Points, ms: f64) {
    points.cache().insert(DeviceId::Cpu, Arc::new(Waited(waited_ms(points) + ms)));
}
