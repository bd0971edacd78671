//! Longitude and latitude: finding their columns, and converting them to the unit sphere.

use super::generate::draw::sin_cos;
use super::headings::{self, Space};
use super::{Axis, Hint, PointCloud, Source};
use crate::printable;

/// The mean radius of the Earth in km (IUGG, R₁).
pub const EARTH_RADIUS_KM: f64 = 6371.0088;

/// Two columns in degrees, longitude and latitude in either order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobeAxes {
    longitude: usize,
    /// Whether the column names determine the order; otherwise longitude comes first.
    named: bool,
}

/// Why a cloud cannot be searched on the globe. The origin comes last.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GlobeError {
    /// The cloud does not have exactly two columns.
    #[error(
        "haversine needs two columns, longitude and latitude in degrees, but the cloud has {columns}: {}",
        Hint::GlobeColumns.option()
    )]
    Columns { columns: usize },
    /// The names of both columns mean the same angle.
    #[error("columns `{first}` and `{second}` are both {what}s: {}", Hint::GlobeColumns.option())]
    Alike {
        /// `longitude` or `latitude`.
        what: &'static str,
        first: String,
        second: String,
    },
    /// A value is out of range.
    #[error(
        "row {row}, column `{column}`: invalid {what} {value}: must be between -{limit} and {limit} degrees; \
         {}: {origin}",
        Hint::GlobeColumns.option()
    )]
    OutOfRange {
        /// 0-based number of the data record in the file.
        row: u64,
        column: String,
        /// The value, formatted.
        value: String,
        /// `longitude` or `latitude`.
        what: &'static str,
        /// Greatest absolute value.
        limit: u32,
        /// The file or generator.
        origin: String,
    },
    /// A coordinate of a query point is out of range.
    #[error(
        "{place}, column `{column}`: invalid {what} {value}: must be between -{limit} and {limit} degrees"
    )]
    Place {
        /// The query point as written.
        place: String,
        column: String,
        /// The value, formatted.
        value: String,
        /// `longitude` or `latitude`.
        what: &'static str,
        /// Greatest absolute value.
        limit: u32,
    },
    /// Squared distances would underflow.
    #[error(
        "all points are within {extent} Earth radii of one another, so squared distances underflow \
         32-bit floats; use the l2 metric"
    )]
    OnePlace {
        /// The widest extent of their unit vectors, formatted.
        extent: String,
    },
    /// The names of the query columns are in the opposite order.
    #[error(
        "query columns ({queries}) are in a different order than the data's ({data}); choose both in the \
         same order, or give them the same names: {origin}"
    )]
    Order {
        /// Names of the query columns.
        queries: String,
        /// Names of the data's columns.
        data: String,
        /// Path of the query file.
        origin: String,
    },
}

/// The angle that a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Angle {
    Longitude,
    Latitude,
}

impl Angle {
    fn name(self) -> &'static str {
        match self {
            Self::Longitude => "longitude",
            Self::Latitude => "latitude",
        }
    }

    /// The greatest absolute value, in degrees. Longitudes may range from −180 or from 0.
    fn limit(self) -> u32 {
        match self {
            Self::Longitude => 360,
            Self::Latitude => 90,
        }
    }

    /// Recognises a column name: `Longitude`, `pickup_lon`, `lat_deg`, `dec`.
    fn from_name(name: &str) -> Option<Self> {
        headings::angle(name).map(|(_, axis)| if axis == 0 { Self::Longitude } else { Self::Latitude })
    }
}

/// Index of the longitude, if the two names form a longitude and a latitude.
fn longitude_of(names: [&str; 2]) -> Option<usize> {
    Some(headings::coordinates(&names.map(Some)).filter(|found| found.space != Space::Flat)?.columns[0])
}

impl GlobeAxes {
    /// Finds the longitude among a cloud's columns: by name, or else the first.
    ///
    /// # Errors
    /// [`GlobeError::Columns`] and [`GlobeError::Alike`].
    pub fn from_axes(axes: &[Axis]) -> Result<Self, GlobeError> {
        let [first, second] = axes else { return Err(GlobeError::Columns { columns: axes.len() }) };
        if let Some(longitude) = longitude_of([&first.name, &second.name]) {
            return Ok(Self { longitude, named: true });
        }
        let roles = [first, second].map(|axis| Angle::from_name(&axis.name));
        let longitude = match roles {
            [Some(a), Some(b)] if a == b => {
                return Err(GlobeError::Alike {
                    what: a.name(),
                    first: first.name.clone(),
                    second: second.name.clone(),
                });
            }
            // One recognised name determines the other column.
            [Some(Angle::Latitude), _] | [_, Some(Angle::Longitude)] => 1,
            _ => 0,
        };
        Ok(Self { longitude, named: roles.iter().all(Option::is_some) })
    }

    /// Whether these are the names of a longitude and a latitude, in either order.
    pub fn is_named<'a>(names: impl IntoIterator<Item = &'a str>) -> bool {
        let names: Vec<&str> = names.into_iter().collect();
        matches!(names[..], [first, second] if longitude_of([first, second]).is_some())
    }

    /// Recognises a cloud of longitude and latitude by the names and ranges of its columns.
    pub fn recognise(axes: &[Axis]) -> Option<Self> {
        let globe = Self::from_axes(axes).ok().filter(|globe| globe.named)?;
        axes.iter()
            .enumerate()
            .all(|(at, axis)| globe.is_valid(at, axis.min) && globe.is_valid(at, axis.max))
            .then_some(globe)
    }

    /// Recognises longitude and latitude on the Earth, rather than in the sky.
    pub fn on_earth(axes: &[Axis]) -> Option<Self> {
        Self::recognise(axes).filter(|_| !Self::is_sky(axes))
    }

    /// Whether a cloud is recognised and all its points are on the globe.
    pub fn matches(cloud: &PointCloud) -> bool {
        Self::recognise(cloud.axes()).is_some_and(|globe| globe.check(cloud).is_ok())
    }

    /// Whether two names mean the same angle in the same frame, such as latitude on the Earth or declination.
    pub fn same_angle(one: &str, other: &str) -> bool {
        headings::angle(one).is_some_and(|angle| headings::angle(other) == Some(angle))
    }

    /// Whether the columns are named as positions in the sky, such as right ascension and declination.
    pub fn is_sky(axes: &[Axis]) -> bool {
        let names: Vec<Option<&str>> = axes.iter().map(|axis| Some(axis.name.as_str())).collect();
        headings::coordinates(&names)
            .is_some_and(|found| found.space == Space::Sky && found.columns.len() == axes.len())
    }

    /// Why columns named longitude and latitude are not used as such: `lat ranges from -3 to 95, but a
    /// latitude in degrees must be between -90 and 90`.
    pub fn not_degrees(axes: &[Axis]) -> Option<String> {
        let globe = Self::from_axes(axes).ok().filter(|globe| globe.named)?;
        let (at, axis) = axes
            .iter()
            .enumerate()
            .find(|(at, axis)| !globe.is_valid(*at, axis.min) || !globe.is_valid(*at, axis.max))?;
        let (role, name) = (globe.role(at), printable::name(&axis.name));
        let limit = role.limit();
        Some(format!(
            "{name} ranges from {} to {}, but a {} in degrees must be between -{limit} and {limit}",
            axis.min,
            axis.max,
            role.name()
        ))
    }

    /// The assumption made if the column names do not determine the order.
    pub fn note(self, axes: &[Axis]) -> Option<String> {
        let name = |at: usize| axes.get(at).map_or("", |axis| axis.name.as_str());
        let (longitude, latitude) = (name(self.longitude), name(1 - self.longitude));
        (!self.named).then(|| {
            format!("column {longitude} is taken as longitude and {latitude} as latitude, in degrees")
        })
    }

    fn role(self, axis: usize) -> Angle {
        if axis == self.longitude { Angle::Longitude } else { Angle::Latitude }
    }

    fn is_valid(self, axis: usize, value: f64) -> bool {
        value.abs() <= f64::from(self.role(axis).limit())
    }

    /// Rejects values that are not degrees of longitude or latitude.
    ///
    /// # Errors
    /// [`GlobeError::OutOfRange`], or [`GlobeError::Place`] for a query point.
    pub fn check(self, cloud: &PointCloud) -> Result<(), GlobeError> {
        let far = |(at, axis): (usize, &Axis)| !self.is_valid(at, axis.min) || !self.is_valid(at, axis.max);
        if !cloud.axes().iter().enumerate().any(far) {
            return Ok(());
        }
        let places = (0..cloud.len()).flat_map(|row| [0, 1].map(|axis| (row, axis)));
        let mut places = places.map(|(row, axis)| (row, axis, cloud.coordinate(row, axis)));
        let Some((row, axis, value)) = places.find(|&(_, axis, value)| !self.is_valid(axis, value)) else {
            return Ok(());
        };
        let (column, value) = (cloud.axes()[axis].name.clone(), value.to_string());
        let (what, limit) = (self.role(axis).name(), self.role(axis).limit());
        let origin = cloud.source().to_string();
        Err(match cloud.source() {
            Source::Coordinates(_) => GlobeError::Place { place: origin, column, value, what, limit },
            _ => GlobeError::OutOfRange { row: cloud.record(row), column, value, what, limit, origin },
        })
    }

    /// Rejects queries whose column names have the opposite order, and then as [`Self::check`].
    ///
    /// # Errors
    /// [`GlobeError`].
    pub fn check_queries(self, queries: &PointCloud, data: &PointCloud) -> Result<(), GlobeError> {
        let theirs = Self::from_axes(queries.axes())?;
        if theirs.longitude != self.longitude
            && (theirs.named || queries.axes().iter().any(|axis| Angle::from_name(&axis.name).is_some()))
        {
            let names = |cloud: &PointCloud| {
                cloud.axes().iter().map(|axis| axis.name.as_str()).collect::<Vec<_>>().join(", ")
            };
            return Err(GlobeError::Order {
                queries: names(queries),
                data: names(data),
                origin: queries.source().to_string(),
            });
        }
        self.check(queries)
    }

    /// A position, in column order, as longitude and latitude.
    pub fn longitude_and_latitude<T: Copy>(self, place: [T; 2]) -> [T; 2] {
        [place[self.longitude], place[1 - self.longitude]]
    }

    /// A row of a cloud as a unit vector.
    pub fn row_unit_vector(self, cloud: &PointCloud, row: usize) -> [f64; 3] {
        self.unit_vector([0, 1].map(|axis| cloud.coordinate(row, axis)))
    }

    /// A position, in column order, as a unit vector: (cos φ cos λ, cos φ sin λ, sin φ). Longitudes that
    /// differ by a full turn give the same vector, and so does a pole at any longitude.
    pub fn unit_vector(self, place: [f64; 2]) -> [f64; 3] {
        let (sin_longitude, cos_longitude) = sin_cos_of(place[self.longitude]);
        let (sin_latitude, cos_latitude) = sin_cos_of(place[1 - self.longitude]);
        // Avoid negative zeros.
        [cos_latitude * cos_longitude, cos_latitude * sin_longitude, sin_latitude].map(|value| value + 0.0)
    }

    /// A unit vector as a position, in column order, with a longitude from −180.
    pub fn position(self, [x, y, z]: [f64; 3]) -> [f64; 2] {
        // Exchanging two values, or not, is its own inverse.
        self.longitude_and_latitude([y.atan2(x).to_degrees(), z.atan2(x.hypot(y)).to_degrees()])
    }

    /// Whether the shortest path between rows of two clouds crosses the edge of a map with longitude as an
    /// axis.
    pub fn crosses_edge(self, (one, at): (&PointCloud, usize), (other, to): (&PointCloud, usize)) -> bool {
        (one.coordinate(at, self.longitude) - other.coordinate(to, self.longitude)).abs() > 180.0
    }

    /// A circle around a centre, at an angle in radians: `count` positions in column order, and the first
    /// again. Their longitudes are within half a turn of the centre's.
    pub fn circle(self, center: [f64; 2], angle: f64, count: usize) -> Vec<[f64; 2]> {
        let (sin_latitude, cos_latitude) = sin_cos_of(center[1 - self.longitude]);
        let (sin_angle, cos_angle) = angle.sin_cos();
        let towards = |at: usize| {
            let bearing = at as f64 / count as f64 * std::f64::consts::TAU;
            let (sin_bearing, cos_bearing) = bearing.sin_cos();
            let sine = sin_latitude * cos_angle + cos_latitude * sin_angle * cos_bearing;
            // At a pole, every bearing is along a meridian.
            let aside = if cos_latitude == 0.0 {
                bearing - std::f64::consts::PI
            } else {
                (sin_bearing * sin_angle * cos_latitude).atan2(cos_angle - sin_latitude * sine)
            };
            let mut place = [0.0; 2];
            place[self.longitude] = center[self.longitude] + aside.to_degrees();
            place[1 - self.longitude] = sine.clamp(-1.0, 1.0).asin().to_degrees();
            place
        };
        (0..=count).map(|at| towards(at % count)).collect()
    }

    /// Splits a line on the globe where it leaves the map, whose longitudes start at `west` and span
    /// one turn. Parts begin and end at its edges.
    pub fn split_at_edges(self, line: &[[f64; 2]], west: f64) -> Vec<Vec<[f64; 2]>> {
        let longitude = self.longitude;
        let mut parts: Vec<Vec<[f64; 2]>> = vec![Vec::new()];
        let mut last: Option<[f64; 2]> = None;
        for &(mut place) in line {
            place[longitude] = west + (place[longitude] - west).rem_euclid(360.0);
            if let Some(from) = last
                && (place[longitude] - from[longitude]).abs() > 180.0
            {
                let eastward = from[longitude] > place[longitude];
                let (leaves, enters) = if eastward { (west + 360.0, west) } else { (west, west + 360.0) };
                let way = (leaves - from[longitude]).abs();
                let whole = way + (place[longitude] - enters).abs();
                let share = if whole > 0.0 { way / whole } else { 0.5 };
                let mut edge = from;
                edge[1 - longitude] += share * (place[1 - longitude] - from[1 - longitude]);
                edge[longitude] = leaves;
                parts.last_mut().into_iter().for_each(|part| part.push(edge));
                edge[longitude] = enters;
                parts.push(vec![edge]);
            }
            parts.last_mut().into_iter().for_each(|part| part.push(place));
            last = Some(place);
        }
        parts.retain(|part| part.len() > 1);
        parts
    }

    /// The western edge of a map of a cloud: −180; 0 if longitudes go from 0 to 360; or the westernmost point
    /// if it is farther west.
    pub fn west_edge(self, axes: &[Axis]) -> f64 {
        axes.get(self.longitude).map_or(-180.0, |axis| match (axis.min, axis.max) {
            (west, _) if west < -180.0 => west,
            (west, east) if east > 180.0 => west.min(0.0),
            _ => -180.0,
        })
    }
}

/// Sine and cosine of an angle in degrees: exact at quarter turns, periodic, and bit-identical on every
/// machine.
fn sin_cos_of(degrees: f64) -> (f64, f64) {
    let quarters = (degrees / 90.0).round();
    // Exact, because the two numbers are of similar magnitude.
    let (sin, cos) = sin_cos((degrees - 90.0 * quarters).to_radians());
    match quarters.rem_euclid(4.0) as u8 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tests::cloud;

    fn longitude(names: [&str; 2]) -> (usize, bool) {
        let globe = GlobeAxes::from_axes(cloud(&names, vec![0.0, 0.0]).axes()).unwrap();
        (globe.longitude, globe.named)
    }

    #[test]
    fn longitude_and_latitude_are_recognised_by_name() {
        for name in [
            "lon",
            "LNG",
            "Long",
            "longitude",
            "lon_deg",
            "pickup_longitude",
            "x_lon",
            "decimalLongitude",
            "GPSLongitude",
            "startLon",
        ] {
            assert_eq!(Angle::from_name(name), Some(Angle::Longitude), "{name}");
        }
        for name in ["lat", "Latitude", "lat (deg)", "y_latitude", "dropoff.lat", "lat0"] {
            assert_eq!(Angle::from_name(name), Some(Angle::Latitude), "{name}");
        }
        for name in ["x", "", "along", "flat", "plateau", "lat_lon", "colon"] {
            assert_eq!(Angle::from_name(name), None, "{name}");
        }
        assert_eq!(longitude(["lat", "lon"]), (1, true));
        assert_eq!(longitude(["lon", "lat"]), (0, true));
        assert_eq!(
            (longitude(["lat", "x"]), longitude(["x", "lat"]), longitude(["x", "y"])),
            ((1, false), (0, false), (0, false))
        );
        let both = cloud(&["pickup_lon", "dropoff_lon"], vec![0.0, 0.0]);
        let why = GlobeAxes::from_axes(both.axes()).unwrap_err().to_string();
        assert_eq!(
            why,
            "columns `pickup_lon` and `dropoff_lon` are both longitudes: choose a longitude and a latitude \
             with --columns"
        );
        let note = GlobeAxes::from_axes(cloud(&["x", "y"], vec![0.0, 0.0]).axes())
            .unwrap()
            .note(cloud(&["x", "y"], vec![0.0, 0.0]).axes());
        assert_eq!(note.as_deref(), Some("column x is taken as longitude and y as latitude, in degrees"));
    }

    #[test]
    fn geographic_clouds_are_recognised_by_names_and_values() {
        let is =
            |names: &[&str], values: Vec<f64>| GlobeAxes::recognise(cloud(names, values).axes()).is_some();
        assert!(is(&["lat", "lon"], vec![90.0, 360.0, -90.0, -360.0]));
        assert!(!is(&["lat", "lon"], vec![100.0, 10.0]), "beyond the pole");
        let why = |names: &[&str], values: Vec<f64>| GlobeAxes::not_degrees(cloud(names, values).axes());
        let beyond = why(&["lat", "lon"], vec![100.0, 10.0, -3.0, 4.0]);
        assert_eq!(
            beyond.as_deref(),
            Some("lat ranges from -3 to 100, but a latitude in degrees must be between -90 and 90")
        );
        assert_eq!(
            [why(&["lat", "lon"], vec![9.0, 10.0]), why(&["x", "y"], vec![100.0, 400.0])],
            [None, None]
        );
        assert!(
            !is(&["x", "y"], vec![1.0, 2.0])
                && !is(&["lon", "height"], vec![1.0, 2.0])
                && !is(&["lon", "lat", "z"], vec![1.0, 2.0, 3.0])
        );
    }

    #[test]
    fn invalid_degrees_are_refused_with_their_row() {
        let why = |names: &[&str], values: Vec<f64>| {
            let cloud = cloud(names, values);
            GlobeAxes::from_axes(cloud.axes()).and_then(|globe| globe.check(&cloud)).unwrap_err().to_string()
        };
        let degrees = "degrees; choose a longitude and a latitude with --columns: test (seed 0)";
        assert_eq!(
            why(&["lat", "lon"], vec![1.0, 2.0, -90.5, 3.0]),
            format!("row 1, column `lat`: invalid latitude -90.5: must be between -90 and 90 {degrees}")
        );
        assert_eq!(
            why(&["x", "y"], vec![361.0, 0.0]),
            format!("row 0, column `x`: invalid longitude 361: must be between -360 and 360 {degrees}")
        );
        let three = "haversine needs two columns, longitude and latitude in degrees, but the cloud has 3: \
                     choose a longitude and a latitude with --columns";
        assert_eq!(why(&["lon", "lat", "z"], vec![0.0; 3]), three);
        let data = cloud(&["lon", "lat"], vec![0.0; 2]);
        let globe = GlobeAxes::from_axes(data.axes()).unwrap();
        let place = super::super::query_point::cloud(&[10.0, 91.0], &data).unwrap();
        let said = globe.check_queries(&place, &data).unwrap_err().to_string();
        assert_eq!(
            said,
            "query point 10,91, column `lat`: invalid latitude 91: must be between -90 and 90 degrees"
        );
        let turned = globe
            .check_queries(&cloud(&["latitude", "longitude"], vec![0.0; 2]), &data)
            .unwrap_err()
            .to_string();
        assert!(
            turned.starts_with(
                "query columns (latitude, longitude) are in a different order than the data's (lon, lat); "
            ),
            "{turned}"
        );
        assert_eq!(globe.check_queries(&cloud(&["a", "b"], vec![0.0; 2]), &data), Ok(()));
    }

    const GLOBE: GlobeAxes = GlobeAxes { longitude: 0, named: true };

    fn angle(a: [f64; 3], b: [f64; 3]) -> f64 {
        let chord = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        2.0 * (chord / 2.0).min(1.0).asin()
    }

    #[test]
    fn poles_and_right_angles_are_exact() {
        let at = |longitude: f64, latitude: f64| GLOBE.unit_vector([longitude, latitude]);
        assert_eq!([0.0, 77.7, -180.0].map(|longitude| at(longitude, 90.0)), [[0.0, 0.0, 1.0]; 3]);
        assert_eq!([180.0, -180.0].map(|longitude| at(longitude, 0.0)), [[-1.0, 0.0, 0.0]; 2]);
        assert_eq!(GLOBE.unit_vector([-90.0, 0.0]), [0.0, -1.0, 0.0]);
        assert_eq!(GlobeAxes { longitude: 1, ..GLOBE }.unit_vector([0.0, 270.0]), [0.0, -1.0, 0.0]);
    }

    #[test]
    fn circles_are_split_at_the_map_edges() {
        let circle = GLOBE.circle([179.0, 0.0], 2f64.to_radians(), 128);
        let parts = GLOBE.split_at_edges(&circle, -180.0);
        assert_eq!(parts.len(), 3, "leaves the map and returns");
        assert!(parts.iter().flatten().all(|place| (-180.0..=180.0).contains(&place[0])));
        let edges: Vec<f64> =
            parts.windows(2).flat_map(|pair| [pair[0].last().unwrap()[0], pair[1][0][0]]).collect();
        assert_eq!(edges, [180.0, -180.0, -180.0, 180.0]);
        let whole = GLOBE.split_at_edges(&GLOBE.circle([10.0, 50.0], 0.1, 128), -180.0);
        assert_eq!((whole.len(), whole[0].len()), (1, 129));
        // A circle around a pole passes every longitude.
        let around = GLOBE.split_at_edges(&GLOBE.circle([30.0, 89.0], 3f64.to_radians(), 128), -180.0);
        let widest = around.iter().flatten().map(|place| place[0]);
        assert_eq!((widest.clone().fold(0.0, f64::min), widest.fold(0.0, f64::max)), (-180.0, 180.0));
    }

    #[test]
    fn circles_of_500_km_are_right_around_poles_and_at_the_date_line() {
        let radians = 500.0 / EARTH_RADIUS_KM;
        for center in [[0.0, 90.0], [77.0, -90.0], [180.0, 0.0], [-179.9, 66.0], [15.0, 89.9]] {
            let parts = GLOBE.split_at_edges(&GLOBE.circle(center, radians, 720), -180.0);
            assert!(parts.len() > 1, "{center:?} crosses the edge");
            let from = GLOBE.unit_vector(center);
            for part in parts {
                // The ends on the map's edge are interpolated.
                for place in &part[1..part.len() - 1] {
                    let km = angle(from, GLOBE.unit_vector(*place)) * EARTH_RADIUS_KM;
                    assert!((km - 500.0).abs() < 0.001, "{center:?}: {place:?} is at {km} km");
                }
                assert!(part.windows(2).all(|pair| (pair[0][0] - pair[1][0]).abs() < 180.0));
            }
        }
    }

    proptest! {
        #[test]
        fn longitudes_wrap_at_360_degrees(
            longitude in -180i32 * 1024..180 * 1024,
            latitude in -90.0f64..=90.0,
        ) {
            let longitude = f64::from(longitude) / 1024.0;
            let at = |longitude: f64| GLOBE.unit_vector([longitude, latitude]);
            prop_assert_eq!(at(longitude), at(longitude + 360.0));
            prop_assert_eq!(at(longitude), at(longitude - 360.0));
        }

        #[test]
        fn unit_vector_angles_match_the_haversine_formula(
            a in (-360.0f64..360.0, -90.0f64..=90.0),
            b in (-360.0f64..360.0, -90.0f64..=90.0),
        ) {
            let (one, other) = (GLOBE.unit_vector([a.0, a.1]), GLOBE.unit_vector([b.0, b.1]));
            let norm = one.iter().map(|value| value * value).sum::<f64>();
            prop_assert!((norm - 1.0).abs() < 1e-15 * 4.0, "{norm}");
            let again = GLOBE.unit_vector(GLOBE.position(one));
            prop_assert!(angle(one, again) < 1e-12, "{again:?}");
            let (east, north) = ((b.0 - a.0).to_radians(), (b.1 - a.1).to_radians());
            let h = (north / 2.0).sin().powi(2)
                + a.1.to_radians().cos() * b.1.to_radians().cos() * (east / 2.0).sin().powi(2);
            // Near the antipode the arcsine is steep.
            prop_assert!((angle(one, other) - 2.0 * h.min(1.0).sqrt().asin()).abs() < 1e-7);
        }

        #[test]
        fn circle_points_have_the_requested_angular_radius(
            center in (-180.0f64..180.0, -90.0f64..=90.0),
            radius in 1e-3f64..3.0,
        ) {
            let at = GLOBE.unit_vector([center.0, center.1]);
            for place in GLOBE.circle([center.0, center.1], radius, 16) {
                prop_assert!((angle(at, GLOBE.unit_vector(place)) - radius).abs() < 1e-6, "{place:?}");
                prop_assert!((place[0] - center.0).abs() <= 180.0 + 1e-9);
            }
        }
    }
}
