//! Which columns are coordinates by their headings: `latitude_deg` with `longitude_deg`, `pickup_longitude` with `pickup_latitude`,
//! `easting` with `northing`, `pos_x` with `pos_y`.

use crate::cloud::roles::lower_words;

/// Headings that make coordinates together, in the order of the axes.
struct Kind {
    axes: &'static [&'static [&'static str]],
    /// How many axes there are at least.
    least: usize,
    /// Whether they are angles, which may be given by their parts: `LatD`, `LatM`, `LatS`. No part is a coordinate.
    angles: bool,
    /// Whether the first of several groups is taken. Of `acc_x`, `acc_y`, `gyro_x` and `gyro_y` none is the place of a row.
    first: bool,
}

const KINDS: [Kind; 3] = [
    Kind { axes: &[&["longitude", "lon", "lng", "long"], &["latitude", "lat"]], least: 2, angles: true, first: true },
    Kind { axes: &[&["easting", "eastings"], &["northing", "northings"]], least: 2, angles: false, first: true },
    Kind { axes: &[&["x"], &["y"], &["z"]], least: 2, angles: false, first: false },
];

/// Words for the parts of an angle.
const DEGREES: [&str; 4] = ["d", "deg", "degree", "degrees"];
const MINUTES: [&str; 4] = ["m", "min", "minute", "minutes"];

/// Names at least as long stand for an axis inside a word too, as in `gpslatitude`.
const LONG: usize = 7;

/// Words that tell no group from another: units, and words for a coordinate.
const NEUTRAL: [&str; 18] = [
    "deg",
    "degree",
    "degrees",
    "decimal",
    "dd",
    "wgs",
    "wgs84",
    "epsg",
    "m",
    "km",
    "ft",
    "coord",
    "coords",
    "coordinate",
    "coordinates",
    "pos",
    "position",
    "point",
];

/// Columns with the same words beside those of their axes.
struct Group {
    rest: Vec<String>,
    axes: Vec<Option<usize>>,
}

impl Group {
    /// Its columns, where the first axes are there, as many as are needed.
    fn columns(&self, kind: &Kind) -> Option<Vec<usize>> {
        let columns: Vec<usize> = self.axes.iter().map_while(|&column| column).collect();
        (columns.len() >= kind.least && columns.len() == self.axes.iter().flatten().count()).then_some(columns)
    }

    fn is_neutral(&self) -> bool {
        self.rest.iter().all(|word| NEUTRAL.contains(&word.as_str()))
    }
}

/// The columns that are coordinates by their headings, in the order of the axes. A heading is `None` where a column can be none:
/// text, mostly empty, or without a name of its own. A group without a word that tells it from others (`latitude_deg` before
/// `dme_latitude_deg`) comes first.
pub(super) fn coordinates(headings: &[Option<&str>]) -> Option<Vec<usize>> {
    KINDS.iter().find_map(|kind| of_kind(kind, headings))
}

fn of_kind(kind: &Kind, headings: &[Option<&str>]) -> Option<Vec<usize>> {
    let mut groups: Vec<Group> = Vec::new();
    for (column, heading) in headings.iter().enumerate() {
        let Some((axis, rest)) = heading.and_then(|heading| axis_of(kind, heading)) else { continue };
        let at = groups.iter().position(|group| group.rest == rest).unwrap_or_else(|| {
            groups.push(Group { rest, axes: vec![None; kind.axes.len()] });
            groups.len() - 1
        });
        groups[at].axes[axis].get_or_insert(column);
    }
    let has = |words: &[&str]| groups.iter().any(|group| group.rest.iter().any(|word| words.contains(&word.as_str())));
    if kind.angles && has(&DEGREES) && has(&MINUTES) {
        return None;
    }
    let whole: Vec<(&Group, Vec<usize>)> = groups.iter().filter_map(|group| Some((group, group.columns(kind)?))).collect();
    let neutral = whole.iter().find(|(group, _)| group.is_neutral());
    let other = || whole.first().filter(|_| kind.first || whole.len() == 1);
    neutral.or_else(other).map(|(_, columns)| columns.clone())
}

/// The axis that a heading names, and its other words; `None` where it names none or several.
fn axis_of(kind: &Kind, heading: &str) -> Option<(usize, Vec<String>)> {
    let words = lower_words(heading);
    let mut found = None;
    for (at, word) in words.iter().enumerate() {
        for (axis, names) in kind.axes.iter().enumerate() {
            let Some(left) = names.iter().find_map(|name| without(word, name)) else { continue };
            if found.replace((axis, at, left)).is_some() {
                return None;
            }
        }
    }
    let (axis, at, left) = found?;
    let rest = words.iter().enumerate().map(|(word, text)| if word == at { left.clone() } else { text.clone() });
    Some((axis, rest.filter(|word| !word.is_empty()).collect()))
}

/// What is left of a word without the name in it: nothing, the number behind it (`lat1`), or, for a long name, whatever it stands
/// in. A single letter stands alone: `x2bar` is no x.
fn without(word: &str, name: &str) -> Option<String> {
    if word == name {
        return Some(String::new());
    }
    let (before, after) = word.split_once(name)?;
    let numbered = name.len() > 1 && before.is_empty() && after.bytes().all(|byte| byte.is_ascii_digit());
    (numbered || name.len() >= LONG).then(|| format!("{before}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_coordinates_are_known() {
        for (headings, expected) in [
            ("id latitude_deg longitude_deg elevation_ft dme_latitude_deg dme_longitude_deg", Some("longitude_deg latitude_deg")),
            ("dme_latitude_deg dme_longitude_deg latitude_deg longitude_deg", Some("longitude_deg latitude_deg")),
            ("pickup_longitude pickup_latitude dropoff_longitude dropoff_latitude", Some("pickup_longitude pickup_latitude")),
            ("decimalLatitude decimalLongitude depth", Some("decimalLongitude decimalLatitude")),
            ("GPSLatitude GPSLongitude", Some("GPSLongitude GPSLatitude")),
            ("lat1 lon1 lat2 lon2", Some("lon1 lat1")),
            ("stop_lat stop_lon zone", Some("stop_lon stop_lat")),
            ("start_lat end_lon", None),
            ("lat_lon value", None),
            ("LatD LatM LatS NS LonD LonM LonS EW", None),
            ("lat_deg lat_min lon_deg lon_min", None),
            ("latency long", None),
            ("Easting Northing Height", Some("Easting Northing")),
            ("northing_m easting_m", Some("easting_m northing_m")),
            ("easting height", None),
            ("x_coord y_coord mass", Some("x_coord y_coord")),
            ("pos_z pos_y pos_x mass", Some("pos_x pos_y pos_z")),
            ("mass XPos YPos", Some("XPos YPos")),
            ("x_start y_start x_end y_end", None),
            ("acc_x acc_y acc_z gyro_x gyro_y gyro_z", None),
            ("x_m y_m vx_1 vel_x vel_y", Some("x_m y_m")),
            ("pos_x pos_z mass", None),
            ("xbar ybar x2bar y2bar", None),
            ("alcohol ash proline", None),
        ] {
            let headings: Vec<&str> = headings.split(' ').collect();
            let found = coordinates(&headings.iter().map(|&heading| Some(heading)).collect::<Vec<_>>());
            let found = found.map(|columns| columns.into_iter().map(|at| headings[at]).collect::<Vec<_>>().join(" "));
            assert_eq!(found.as_deref(), expected, "{headings:?}");
        }
    }

    #[test]
    fn a_column_that_can_be_no_coordinate_is_passed_over() {
        let headings = [None, Some("longitude_deg"), Some("dme_latitude_deg"), Some("dme_longitude_deg")];
        assert_eq!(coordinates(&headings), Some(vec![3, 2]), "the latitude is text");
    }
}
