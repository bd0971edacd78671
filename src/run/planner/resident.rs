//! Which engines have loaded a set of points. Recorded in the points' cache, so that the record is dropped with the engines' data.

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
