//! Finds the position columns of a file by their headings: `latitude_deg` with `longitude_deg`, `Rechtswert`
//! with `Hochwert`, `pos_x` with `pos_y`, `UMAP_1` with `UMAP_2`. A new convention is a row or a word of
//! these tables.

use std::collections::BTreeMap;

use super::roles::{has_word, is_in, lower_words};

/// The space that a position's coordinates are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Lengths, or numbers without a unit.
    Flat,
    /// Degrees of longitude and latitude on the Earth.
    Globe,
    /// Degrees on the celestial sphere, such as right ascension and declination.
    Sky,
}

/// Headings that together form a position.
#[derive(Debug)]
pub struct Family {
    pub space: Space,
    /// Words for each axis, in axis order. Among several columns, the one with the earliest word wins.
    axes: &'static [&'static str],
    /// The minimum number of axes.
    min_axes: usize,
    /// Whether to choose the first of several groups. `acc_x`, `acc_y`, `gyro_x` and `gyro_y` form two
    /// groups, neither of which is a position.
    first: bool,
}

const LONGITUDES: &str =
    "longitude lon lng long longitud longitudine längengrad laengengrad lengtegraad долгота 経度 经度";
const LATITUDES: &str = "latitude lat latitud latitudine breitengrad breedtegraad широта 緯度 纬度";
const HEIGHTS: &str = "z elevation elev height altitude alt h höhe hoehe hauteur altura altitud elevación \
                       elevacion cota quota altezza altitudine";

/// Of families with equally many axes, the first wins.
const FAMILIES: &[Family] = &[
    Family { space: Space::Globe, axes: &[LONGITUDES, LATITUDES], min_axes: 2, first: true },
    // Equatorial, galactic and ecliptic coordinates.
    Family {
        space: Space::Sky,
        axes: &["ra raj2000 ascension", "dec decl de dej2000 declination"],
        min_axes: 2,
        first: true,
    },
    Family { space: Space::Sky, axes: &["glon", "glat"], min_axes: 2, first: true },
    Family { space: Space::Sky, axes: &["elon", "elat"], min_axes: 2, first: true },
    Family {
        space: Space::Flat,
        axes: &[
            "easting eastings east rechtswert ostwert este est e",
            "northing northings north hochwert nordwert norte nord n",
            HEIGHTS,
        ],
        min_axes: 2,
        first: true,
    },
    Family { space: Space::Flat, axes: &["x", "y", HEIGHTS], min_axes: 2, first: false },
    // Trajectories in the TUM format, and particle states.
    Family { space: Space::Flat, axes: &["tx", "ty", "tz"], min_axes: 3, first: true },
    Family { space: Space::Flat, axes: &["px", "py", "pz"], min_axes: 3, first: true },
];

/// Stems of numbered headings that are positions: ParaView writes `Points:0`.
const NUMBERED_POSITIONS: &str =
    "points point coords coord coordinates coordinate position pos location center centroid";

/// Stems of numbered headings that are vectors: `UMAP_1`, `PC1`, `text_embedding_0`.
const NUMBERED_VECTORS: &str = "umap tsne sne pc pca mds nmds ica lda lsa svd nmf phate trimap pacmap \
                                isomap scvi harmony embedding embeddings embed emb vector vec latent dim \
                                dimension component comp feature feat x z f";

/// Words for the parts of an angle (`LatD`, `LatM`, `LatS`), which are not coordinates.
const DEGREES: &str = "d deg degree degrees";
const MINUTES: &str = "m min minute minutes";

/// Units of angles that are not degrees.
const NOT_DEGREES: &str = "rad radian radians gon grad hour hours hr hms arcsec";

/// Corners of a box, which is not a position.
const CORNERS: &str = "min max";

/// Words for a width. If a column has one, `h` is the height of a box and not a third coordinate.
const WIDTHS: &str = "w width";

/// Names of at least this length are also recognised inside a word, as in `gpslatitude`.
const MIN_INFIX_LEN: usize = 7;

/// Words that do not distinguish one group from another: units, and synonyms of "coordinate".
const NEUTRAL: &str = "deg degree degrees decimal dd wgs wgs84 epsg utm icrs j2000 right m km ft coord \
                       coords coordinate coordinates pos position point";

/// Prefixes of galactic and ecliptic coordinates: `glon` is not a longitude on the Earth.
const SKY: &str = "g e";

/// Units of length. A height must have the same unit as the position that it joins.
const LENGTHS: &str = "m km ft";

/// Columns whose headings form a position.
#[derive(Debug, PartialEq)]
pub struct HeadingMatch {
    /// Their indices, in axis order.
    pub columns: Vec<usize>,
    pub space: Space,
}

/// Columns whose headings differ only in the word for the axis.
struct Group {
    rest: Vec<String>,
    /// The column of each axis, with the rank of its word.
    axes: Vec<Option<(usize, usize)>>,
}

impl Group {
    /// Its columns, if enough axes are present, without gaps from the first.
    fn columns(&self, family: &Family) -> Option<Vec<usize>> {
        let columns: Vec<usize> = self.axes.iter().map_while(|axis| Some(axis.as_ref()?.0)).collect();
        (columns.len() >= family.min_axes && columns.len() == self.axes.iter().flatten().count())
            .then_some(columns)
    }

    fn is_neutral(&self) -> bool {
        self.rest.iter().all(|word| is_in(word, NEUTRAL))
    }

    fn unit(&self) -> Option<&String> {
        self.rest.iter().find(|word| is_in(word, LENGTHS))
    }
}

/// The columns that form a position or a vector by their headings. `None` marks a column that cannot be a
/// coordinate: text, mostly empty, or unnamed.
///
/// The position with the most axes wins. Any position wins over numbered vectors. Of these, the longest wins.
/// A group without a distinguishing word takes precedence: `latitude_deg` before `dme_latitude_deg`.
pub fn coordinates(headings: &[Option<&str>]) -> Option<HeadingMatch> {
    position(headings).or_else(|| {
        let columns = numbered(&words(headings), NUMBERED_VECTORS, usize::MAX)?;
        Some(HeadingMatch { columns, space: Space::Flat })
    })
}

fn words(headings: &[Option<&str>]) -> Vec<Option<Vec<String>>> {
    headings.iter().map(|heading| heading.map(lower_words)).collect()
}

/// Like [`coordinates`], without numbered vectors.
pub fn position(headings: &[Option<&str>]) -> Option<HeadingMatch> {
    let words = words(headings);
    let named = FAMILIES
        .iter()
        .filter_map(|family| Some((family_columns(family, &words)?, family.space)))
        .map(|(columns, space)| HeadingMatch { columns, space });
    let numbered =
        numbered(&words, NUMBERED_POSITIONS, 3).map(|columns| HeadingMatch { columns, space: Space::Flat });
    // `max_by_key` returns the last maximum.
    let positions: Vec<HeadingMatch> = named.chain(numbered).collect();
    positions.into_iter().rev().max_by_key(|found| found.columns.len())
}

/// The frame of an angle's heading, such as equatorial or galactic coordinates, and its axis: longitude (0)
/// or latitude (1).
pub fn angle(heading: &str) -> Option<(usize, usize)> {
    let words = lower_words(heading);
    let angles = FAMILIES.iter().enumerate().filter(|(_, family)| family.space != Space::Flat);
    angles.filter_map(|(frame, family)| Some((frame, axis_of(family, &words, false)?.axis))).next()
}

fn family_columns(family: &Family, headings: &[Option<Vec<String>>]) -> Option<Vec<usize>> {
    let mut groups: Vec<Group> = Vec::new();
    for (column, words) in headings.iter().enumerate() {
        let heading = words.as_ref().and_then(|words| axis_of(family, words, true));
        let Some(AxisHeading { axis, rank, rest }) = heading else { continue };
        let at = groups.iter().position(|group| group.rest == rest).unwrap_or_else(|| {
            groups.push(Group { rest, axes: vec![None; family.axes.len()] });
            groups.len() - 1
        });
        let place = &mut groups[at].axes[axis];
        if place.is_none_or(|(_, before)| rank < before) {
            *place = Some((column, rank));
        }
    }
    let has = |list: &str| groups.iter().any(|group| has_word(&group.rest, list));
    if family.space != Space::Flat && has(DEGREES) && has(MINUTES) {
        return None;
    }
    let is_box = headings.iter().flatten().any(|words| words.last().is_some_and(|last| is_in(last, WIDTHS)));
    if is_box {
        groups
            .iter_mut()
            .filter_map(|group| group.axes.get_mut(2))
            .for_each(|height| *height = height.filter(|&(_, rank)| rank == 0));
    }
    let is_corner = |group: &&Group| has_word(&group.rest, CORNERS);
    let whole: Vec<(&Group, Vec<usize>)> = groups
        .iter()
        .filter(|group| !is_corner(group))
        .filter_map(|group| Some((group, group.columns(family)?)))
        .collect();
    let neutral = whole.iter().find(|(group, _)| group.is_neutral());
    let (group, columns) = neutral.or_else(|| whole.first().filter(|_| family.first || whole.len() == 1))?;
    let mut columns = columns.clone();
    if columns.len() == 2 && group.is_neutral() && family.axes.len() == 3 {
        let alone = |other: &&Group| other.is_neutral() && matches!(other.axes[..], [None, None, Some(_)]);
        let same_unit =
            |other: &&Group| group.unit().is_none_or(|unit| other.unit().is_none_or(|of| of == unit));
        columns.extend(
            groups
                .iter()
                .filter(alone)
                .find(same_unit)
                .and_then(|height| height.axes[2])
                .map(|(column, _)| column),
        );
    }
    Some(columns)
}

/// The axis that a heading names, the rank of the word for it, and the heading's other words.
struct AxisHeading {
    axis: usize,
    rank: usize,
    rest: Vec<String>,
}

/// `None` if a heading names no axis or several. With `in_pair`, a partner with the same prefix is required,
/// so suffixes count: `reclat` is a latitude, but `flat` is not.
fn axis_of(family: &Family, words: &[String], in_pair: bool) -> Option<AxisHeading> {
    // `LAT_N` is paired with `LONG_W`, and `right_ascension` with `declination`.
    let ignored = match family.space {
        Space::Globe => "n s e w",
        Space::Sky => "right",
        Space::Flat => "",
    };
    if family.space != Space::Flat && has_word(words, NOT_DEGREES) {
        return None;
    }
    let mut found = None;
    let words = || words.iter().filter(|word| !is_in(word, ignored)).enumerate();
    for (at, word) in words() {
        for (axis, names) in family.axes.iter().enumerate() {
            let remainder = |name: &str| {
                let prefix = || {
                    word.strip_suffix(name).filter(|prefix| {
                        in_pair && family.space == Space::Globe && name.len() > 2 && !is_in(prefix, SKY)
                    })
                };
                strip_name(word, name).or_else(|| prefix().map(str::to_owned))
            };
            let known = names.split(' ').enumerate().find_map(|(rank, name)| Some((rank, remainder(name)?)));
            let Some((rank, left)) = known else { continue };
            if found.replace((axis, at, rank, left)).is_some() {
                return None;
            }
        }
    }
    let (axis, at, rank, left) = found?;
    let rest = words().map(|(word, text)| if word == at { left.clone() } else { text.clone() });
    Some(AxisHeading { axis, rank, rest: rest.filter(|word| !word.is_empty()).collect() })
}

/// The rest of a word after removing the name: nothing, a number (`lat1`), or, for a long name, the
/// surrounding text. A single letter must be the whole word: `x2bar` is not an x.
fn strip_name(word: &str, name: &str) -> Option<String> {
    if word == name {
        return Some(String::new());
    }
    let (before, after) = word.split_once(name)?;
    let numbered = name.len() > 1 && before.is_empty() && after.bytes().all(|byte| byte.is_ascii_digit());
    (numbered || name.len() >= MIN_INFIX_LEN).then(|| format!("{before}{after}"))
}

/// The longest run of headings with one stem and consecutive numbers from 0 or 1, with at least 2 and at most
/// `most` headings.
fn numbered(headings: &[Option<Vec<String>>], stems: &str, most: usize) -> Option<Vec<usize>> {
    let mut runs: Vec<(String, BTreeMap<usize, usize>)> = Vec::new();
    for (column, words) in headings.iter().enumerate() {
        let Some((stem, number)) = words.as_ref().and_then(|words| stem_of(words, stems)) else { continue };
        let at = runs.iter().position(|(known, _)| *known == stem).unwrap_or_else(|| {
            runs.push((stem, BTreeMap::new()));
            runs.len() - 1
        });
        runs[at].1.entry(number).or_insert(column);
    }
    // `x1`, `y1`, `x2`, `y2` are two points.
    let is_pair = |stem: &str| stem == "x" && headings.iter().flatten().any(|words| words.join("") == "y1");
    let consecutive = |numbers: &BTreeMap<usize, usize>| {
        numbers
            .keys()
            .next()
            .is_some_and(|&first| first <= 1 && numbers.keys().copied().eq(first..first + numbers.len()))
    };
    let runs = runs.iter().filter(|(stem, numbers)| {
        (2..=most).contains(&numbers.len()) && consecutive(numbers) && !is_pair(stem)
    });
    runs.rev()
        .max_by_key(|(_, numbers)| numbers.len())
        .map(|(_, numbers)| numbers.values().copied().collect())
}

/// Stem and number of a heading; `None` if it has no number, or its stem is not among `stems`.
fn stem_of(words: &[String], stems: &str) -> Option<(String, usize)> {
    let text = words.join("_");
    let stem = text.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let number = text[stem.len()..].parse().ok()?;
    let stem = stem.trim_end_matches('_');
    // A single letter is a stem only if it is the whole word.
    let known = is_in(&stem.replace('_', ""), stems)
        || stem.rsplit('_').next().is_some_and(|word| word.len() > 1 && is_in(word, stems));
    known.then(|| (stem.to_owned(), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recognise(headings: &[&str]) -> Option<HeadingMatch> {
        coordinates(&headings.iter().map(|&heading| Some(heading)).collect::<Vec<_>>())
    }

    #[test]
    fn coordinate_headings_are_recognised() {
        for (headings, expected) in [
            (
                "id latitude_deg longitude_deg elevation_ft dme_latitude_deg dme_longitude_deg",
                Some("longitude_deg latitude_deg"),
            ),
            (
                "dme_latitude_deg dme_longitude_deg latitude_deg longitude_deg",
                Some("longitude_deg latitude_deg"),
            ),
            (
                "pickup_longitude pickup_latitude dropoff_longitude dropoff_latitude",
                Some("pickup_longitude pickup_latitude"),
            ),
            ("decimalLatitude decimalLongitude depth", Some("decimalLongitude decimalLatitude")),
            ("GPSLatitude GPSLongitude", Some("GPSLongitude GPSLatitude")),
            ("lat1 lon1 lat2 lon2", Some("lon1 lat1")),
            ("stop_lat stop_lon zone", Some("stop_lon stop_lat")),
            ("start_lat end_lon", None),
            ("lat_lon value", None),
            ("LatD LatM LatS NS LonD LonM LonS EW", None),
            ("lat_deg lat_min lon_deg lon_min", None),
            ("latency long", None),
            ("mass_g year reclat reclong", Some("reclong reclat")),
            ("ID CITY LAT_N LONG_W", Some("LONG_W LAT_N")),
            ("Ort Breitengrad Längengrad", Some("Längengrad Breitengrad")),
            ("Latitud Longitud", Some("Longitud Latitud")),
            ("latitudine longitudine quota", Some("longitudine latitudine")),
            ("Länge Breite Höhe", None),
            ("Easting Northing Height", Some("Easting Northing Height")),
            ("northing_m easting_m", Some("easting_m northing_m")),
            ("Easting_m Northing_m Elevation_ft", Some("Easting_m Northing_m")),
            ("id E N H", Some("E N H")),
            ("Rechtswert Hochwert Höhe", Some("Rechtswert Hochwert Höhe")),
            ("Este Norte Cota", Some("Este Norte Cota")),
            ("Est Nord Quota", Some("Est Nord Quota")),
            ("POINT_X POINT_Y area", Some("POINT_X POINT_Y")),
            ("Nr X Y H", Some("X Y H")),
            ("x y z height", Some("x y z")),
            ("x y width height", Some("x y")),
            ("x y w h", Some("x y")),
            ("easting height", None),
            ("x_coord y_coord mass", Some("x_coord y_coord")),
            ("pos_z pos_y pos_x mass", Some("pos_x pos_y pos_z")),
            ("pos_x pos_y pos_z vel_x vel_y vel_z", Some("pos_x pos_y pos_z")),
            ("x y z nx ny nz red green blue vx vy vz", Some("x y z")),
            ("mass XPos YPos", Some("XPos YPos")),
            ("x_start y_start x_end y_end", None),
            ("acc_x acc_y acc_z gyro_x gyro_y gyro_z", None),
            ("x_m y_m vx_1 vel_x vel_y", Some("x_m y_m")),
            ("pos_x pos_z mass", None),
            ("xbar ybar x2bar y2bar", None),
            ("alcohol ash proline", None),
            ("source ra dec Gmag", Some("ra dec")),
            ("RAJ2000 DEJ2000 e_RAJ2000", Some("RAJ2000 DEJ2000")),
            ("DEC_ICRS RA_ICRS", Some("RA_ICRS DEC_ICRS")),
            ("glat glon flux", Some("glon glat")),
            ("right_ascension declination", Some("right_ascension declination")),
            ("breedtegraad lengtegraad inwoners", Some("lengtegraad breedtegraad")),
            ("широта долгота", Some("долгота широта")),
            ("緯度 経度", Some("経度 緯度")),
            ("timestamp tx ty tz qx qy qz qw", Some("tx ty tz")),
            ("Points:0 Points:1 Points:2 Result", Some("Points:0 Points:1 Points:2")),
            (
                "Velocity_0 Velocity_1 Velocity_2 Points_0 Points_1 Points_2",
                Some("Points_0 Points_1 Points_2"),
            ),
            ("cell UMAP_1 UMAP_2 nCount_RNA", Some("UMAP_1 UMAP_2")),
            ("tSNE-1 tSNE-2 depth", Some("tSNE-1 tSNE-2")),
            ("PC1 PC2 PC3 UMAP1 UMAP2", Some("PC1 PC2 PC3")),
            ("id x1 x2 x3 y", Some("x1 x2 x3")),
            ("x1 y1 x2 y2", None),
            ("embedding0 embedding1 embedding2 x y", Some("x y")),
            ("text_embedding_0 text_embedding_1 tokens", Some("text_embedding_0 text_embedding_1")),
            ("PC2 PC3", None),
            ("meas_1 meas_2", None),
            ("location_id_1 location_id_2 PC1 PC2", Some("PC1 PC2")),
            ("lat_min lon_min lat_max lon_max", None),
            ("lat_rad lon_rad", None),
            ("ra_hours dec", None),
        ] {
            let headings: Vec<&str> = headings.split(' ').collect();
            let found = recognise(&headings);
            let found = found
                .map(|found| found.columns.into_iter().map(|at| headings[at]).collect::<Vec<_>>().join(" "));
            assert_eq!(found.as_deref(), expected, "{headings:?}");
        }
    }

    #[test]
    fn geographic_sky_and_planar_headings_are_distinguished() {
        let space = |headings: &[&str]| recognise(headings).map(|found| found.space);
        assert_eq!(space(&["lat", "lon"]), Some(Space::Globe));
        assert_eq!(space(&["ra", "dec"]), Some(Space::Sky));
        assert_eq!(space(&["Easting (m)", "Northing (m)"]), Some(Space::Flat));
        assert_eq!(
            (angle("pickup_lon"), angle("lat_deg"), angle("Breitengrad"), angle("RA"), angle("flat")),
            (Some((0, 0)), Some((0, 1)), Some((0, 1)), Some((1, 0)), None)
        );
    }

    #[test]
    fn unusable_columns_are_skipped() {
        let headings = [None, Some("longitude_deg"), Some("dme_latitude_deg"), Some("dme_longitude_deg")];
        assert_eq!(
            coordinates(&headings).map(|found| found.columns),
            Some(vec![3, 2]),
            "the latitude is text"
        );
    }
}
