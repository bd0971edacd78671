//! Plane as a map: longitude and latitude in true proportions.

use super::coastlines::Bounds;
use crate::cloud::{GlobeAxes, PointCloud};

/// Two axes of a cloud that are longitude and latitude, on the Earth or in the sky.
#[derive(Clone, Copy, Debug)]
pub struct MapAxes {
    globe: GlobeAxes,
    /// What local coordinates are relative to, in degrees.
    origins: [f64; 2],
    /// Western edge of the map, whose longitudes span one turn.
    west: f64,
    is_earth: bool,
}

impl MapAxes {
    pub fn of(cloud: &PointCloud, axes: [usize; 2]) -> Option<Self> {
        let [across, up] = axes.map(|axis| cloud.axes().get(axis).cloned());
        let pair = [across?, up?];
        let globe = GlobeAxes::recognise(&pair)?;
        Some(Self {
            globe,
            origins: [0, 1].map(|axis| pair[axis].origin),
            west: globe.west_edge(&pair),
            is_earth: GlobeAxes::on_earth(&pair).is_some(),
        })
    }

    pub fn is_earth(&self) -> bool {
        self.is_earth
    }

    /// All longitudes and latitudes of the map.
    pub fn bounds(&self) -> Bounds {
        Bounds { low: [self.west, -90.0], high: [self.west + 360.0, 90.0] }
    }

    /// Local coordinates as longitude and latitude.
    pub fn degrees(&self, local: [f64; 2]) -> [f64; 2] {
        self.globe.longitude_and_latitude([0, 1].map(|axis| local[axis] + self.origins[axis]))
    }

    /// Longitude's and latitude's of two values, one for each axis.
    pub fn ordered(&self, of_axes: [f64; 2]) -> [f64; 2] {
        self.globe.longitude_and_latitude(of_axes)
    }

    /// Longitude and latitude as local coordinates.
    pub fn local(&self, degrees: [f64; 2]) -> [f64; 2] {
        // Exchanging two values, or not, is its own inverse.
        let place = self.globe.longitude_and_latitude(degrees);
        [0, 1].map(|axis| place[axis] - self.origins[axis])
    }
}

/// Latitude beyond which a map's proportions no longer change: at the poles, all longitudes are one place.
const MAX_LATITUDE: f64 = 80.0;

/// Factors for both axes that show lengths around a centre in their true proportions.
pub fn stretch(map: Option<MapAxes>, center: [f64; 2]) -> [f64; 2] {
    let Some(map) = map else { return [1.0; 2] };
    let [_, latitude] = map.degrees(center);
    map.globe.longitude_and_latitude([latitude.abs().min(MAX_LATITUDE).to_radians().cos(), 1.0])
}
