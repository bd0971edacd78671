//! Positions and vectors in one cell: `[0.1, 0.2]`, `(48.1, 11.6)`, `POINT (11.6 48.1)`, WKB.
//!
//! A reader passes the values of a column to [`VectorDetector`]. If they are vectors, the column stays
//! unchanged, and [`VectorColumn`] describes the numeric columns that the reader appends for its elements.
//! [`choose_vector`] decides which vector of a file is searched.

use serde_json::{Map, Value};

use super::cell::{self, Cell};
use super::guess::name_coordinates;
use super::limits::MAX_COLUMNS;
use super::{
    ColumnRequest, Crs, DeclaredCoordinates, Endian, Input, NumberType, Result, SheetColumn, printable,
};
use crate::roles::{has_word, is_in, lower_words, ranges};
use crate::{ColumnChoice, Hint};

/// The type of a cell's content; its numbers are returned separately.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CellContent {
    Missing,
    /// Numbers, and the bracket around them.
    List(Option<char>),
    /// x, y and maybe z, with the EPSG code of the reference system or 0.
    Point(u32),
    /// A vector or geometry that cannot be searched; completes "it holds ".
    Unreadable(String),
    /// Bytes or base64 with unknown content.
    Packed,
    Other,
}

impl CellContent {
    /// Whether the cell contains no vector, readable or not.
    pub fn is_plain(&self) -> bool {
        matches!(self, Self::Missing | Self::Packed | Self::Other)
    }
}

/// Geometry types in the order of their WKB codes, from 1.
const GEOMETRIES: &str = "Point LineString Polygon MultiPoint MultiLineString MultiPolygon \
                          GeometryCollection CircularString CompoundCurve CurvePolygon MultiCurve \
                          MultiSurface Curve Surface PolyhedralSurface TIN Triangle";

fn geometry(kind: &str) -> Option<&'static str> {
    GEOMETRIES.split(' ').find(|name| name.eq_ignore_ascii_case(kind))
}

/// Why geometries other than points are unsupported; completes "it holds ".
pub(super) fn unreadable(kind: &str) -> String {
    format!(
        "a {kind}, and only points are read; make its vertices or centroids points first, for instance in \
         QGIS"
    )
}

/// Parses a cell; `out` receives its numbers. `binary`: the cell is not text.
pub(super) fn parse(cell: &[u8], binary: bool, out: &mut Vec<f64>) -> CellContent {
    out.clear();
    let text = std::str::from_utf8(cell).unwrap_or_default().trim();
    let content = match hex(text).filter(|_| !binary) {
        Some(bytes) => wkb(&bytes, out),
        None if binary => {
            wkb(cell, out).or(Some(if cell.is_empty() { CellContent::Missing } else { CellContent::Packed }))
        }
        None => match Cell::parse(cell) {
            Cell::Missing => Some(CellContent::Missing),
            Cell::Number(_) => None,
            Cell::Text if text.matches('°').count() == 2 && text.ends_with(['N', 'S', 'E', 'W', 'O']) => {
                Some(CellContent::Unreadable(
                    "degrees, minutes and seconds; write decimal degrees".to_owned(),
                ))
            }
            Cell::Text => {
                // Open data portals write `(latitude, longitude)` on the line after a postal address.
                let last = text.rsplit_once('\n').map(|(_, last)| last);
                let text = last
                    .filter(|last| list(last, &mut Vec::new()) == Some(CellContent::List(Some('('))))
                    .unwrap_or(text);
                wkt(text, out)
                    .or_else(|| object(text, out))
                    .or_else(|| list(text, out))
                    .or_else(|| is_base64(text).then_some(CellContent::Packed))
            }
        },
    };
    let content = content.unwrap_or(CellContent::Other);
    if !matches!(content, CellContent::List(_) | CellContent::Point(_)) {
        out.clear();
    }
    content
}

/// Decodes hexadecimal digits, as PostGIS writes WKB, with optional `\x` or `0x`. The shortest WKB has 21
/// bytes.
fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_start_matches("\\x").trim_start_matches("0x").as_bytes();
    let value = |digit: u8| char::from(digit).to_digit(16).unwrap_or(0) as u8;
    let is_hex =
        digits.len() >= 42 && digits.len().is_multiple_of(2) && digits.iter().all(u8::is_ascii_hexdigit);
    is_hex.then(|| digits.chunks_exact(2).map(|pair| value(pair[0]) << 4 | value(pair[1])).collect())
}

/// Whether a text may be base64.
fn is_base64(text: &str) -> bool {
    text.len() >= 16
        && text.len().is_multiple_of(4)
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte))
}

/// Parses WKB of either byte order, ISO or EWKB, also after MySQL's reference system prefix.
fn wkb(bytes: &[u8], out: &mut Vec<f64>) -> Option<CellContent> {
    let read = |bytes: &[u8], out: &mut Vec<f64>| {
        let (&order, mut rest) = bytes.split_first().filter(|&(&order, _)| order <= 1)?;
        let endian = if order == 1 { Endian::Little } else { Endian::Big };
        let mut whole = || {
            let (first, after) = rest.split_at_checked(4)?;
            rest = after;
            Some(NumberType::U32.decode_one(endian, first) as u32)
        };
        let kind = whole()?;
        let srid = if kind & 0x2000_0000 != 0 { whole()? } else { 0 };
        let (more, kind) =
            (((kind & 0x0fff_ffff) / 1000) | (kind >> 31) | ((kind >> 29) & 2), (kind & 0x0fff_ffff) % 1000);
        let name = GEOMETRIES.split(' ').nth((kind as usize).checked_sub(1)?).filter(|_| more <= 3)?;
        if kind != 1 {
            return Some(CellContent::Unreadable(unreadable(name)));
        }
        // A measure comes last and is not a coordinate.
        let (axes, measures) = (2 + (more & 1) as usize, (more >> 1) as usize);
        out.extend(rest.chunks_exact(8).take(axes).map(|number| NumberType::F64.decode_one(endian, number)));
        (rest.len() == 8 * (axes + measures)).then(|| point(srid, out))
    };
    read(bytes, out).or_else(|| {
        out.clear();
        read(bytes.get(4..)?, out)
    })
}

/// An empty point is stored as NaN.
fn point(srid: u32, numbers: &[f64]) -> CellContent {
    if numbers.iter().take(2).all(|number| number.is_nan()) {
        CellContent::Missing
    } else {
        CellContent::Point(srid)
    }
}

/// WKT and EWKT: `POINT Z (1 2 3)`, `SRID=4326;POINT(11.6 48.1)`.
fn wkt(text: &str, out: &mut Vec<f64>) -> Option<CellContent> {
    let (srid, text) = match text
        .split_once(';')
        .filter(|(srid, _)| srid.get(..5).is_some_and(|key| key.eq_ignore_ascii_case("SRID=")))
    {
        Some((srid, text)) => (srid[5..].trim().parse().ok()?, text),
        None => (0, text),
    };
    let (head, body) = text.split_once('(').unwrap_or((text, ""));
    let head: String = head.split_whitespace().take(4).map(str::to_ascii_uppercase).collect();
    let kind = head.trim_end_matches("EMPTY");
    // The dimensions follow with or without a space.
    let (name, tag) =
        ["", "Z", "M", "ZM"].into_iter().find_map(|tag| Some((geometry(kind.strip_suffix(tag)?)?, tag)))?;
    let numbers = || {
        body.strip_suffix(')')?
            .split([' ', ','])
            .filter(|number| !number.is_empty())
            .map(|number| number.parse().ok())
            .collect::<Option<Vec<f64>>>()
    };
    match body {
        "" => (kind != head).then_some(CellContent::Missing),
        _ if name != "Point" => Some(CellContent::Unreadable(unreadable(name))),
        _ => Some(match numbers().filter(|numbers| (2..=4).contains(&numbers.len())) {
            Some(numbers) => {
                out.extend(&numbers[..numbers.len() - usize::from(tag == "M" || numbers.len() == 4)]);
                point(srid, out)
            }
            None => CellContent::Unreadable("a point that is not two to four numbers".to_owned()),
        }),
    }
}

/// An object, also in Python's notation: a GeoJSON geometry, or named coordinates.
fn object(text: &str, out: &mut Vec<f64>) -> Option<CellContent> {
    /// Longer texts are geometries with many vertices.
    const LONG: usize = 1 << 12;
    if !text.starts_with('{') || !text.contains(':') || text.len() > LONG {
        return (text.starts_with('{') && text.contains("coordinates"))
            .then(|| CellContent::Unreadable(unreadable("geometry")));
    }
    let object: Map<String, Value> =
        serde_json::from_str(text).or_else(|_| serde_json::from_str(&text.replace('\'', "\""))).ok()?;
    let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    let find = |names: &[&str]| {
        object
            .iter()
            .find(|(key, _)| names.iter().any(|name| key.eq_ignore_ascii_case(name)))
            .map(|(_, value)| value)
    };
    if let (Some(kind), Some(Value::Array(numbers))) =
        (find(&["type"]).and_then(|kind| geometry(kind.as_str()?)), find(&["coordinates"]))
    {
        out.extend(numbers.iter().filter_map(Value::as_f64).take(3));
        return Some(if kind == "Point" && out.len() >= 2 {
            point(WGS84, out)
        } else {
            CellContent::Unreadable(unreadable(kind))
        });
    }
    let axes: [(u32, [&[&str]; 2]); 2] = [(WGS84, [LONGITUDES, LATITUDES]), (PLANE, [&["x"], &["y"]])];
    let (srid, x, y) = axes
        .into_iter()
        .find_map(|(srid, [x, y])| Some((srid, find(x).and_then(number)?, find(y).and_then(number)?)))?;
    out.extend([x, y].into_iter().chain(find(&["z"]).and_then(number)));
    Some(CellContent::Point(srid))
}

/// Numbers with or without brackets, in the notation of JSON, Python, NumPy, PyTorch or PostgreSQL. Calls
/// around the list or its elements, such as `array(…)` and `np.float64(…)`, are skipped.
fn list(text: &str, out: &mut Vec<f64>) -> Option<CellContent> {
    /// Minimum number of integers without brackets that form a vector. Fewer may be one number or a code.
    const MANY: usize = 8;
    let unreadable = |why: &str| Some(CellContent::Unreadable(why.to_owned()));
    /// Constructors of an array or its elements.
    const CALLS: [&str; 7] = ["array", "tensor", "list", "tuple", "vector", "float", "int"];
    let (mut rest, mut bracket, mut decimals, mut depth) = (text, None, true, 0usize);
    let mut closing = Vec::new();
    loop {
        rest = rest.trim_start_matches(|letter: char| {
            letter.is_whitespace() || matches!(letter, ',' | ';' | '|' | '\'' | '"')
        });
        let Some(first) = rest.chars().next() else { break };
        let token = rest
            .find(|letter: char| letter.is_whitespace() || "[](){},;|:'\"=".contains(letter))
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(token);
        let opens = token == 0 && matches!(first, '[' | '(' | '{');
        let name = word
            .rsplit('.')
            .next()
            .unwrap_or(word)
            .trim_end_matches(|letter: char| letter.is_ascii_digit())
            .to_ascii_lowercase();
        let calls = after.starts_with('(') && CALLS.contains(&name.trim_start_matches('u'));
        match first {
            _ if depth == 0 && (bracket.is_some() || opens && !out.is_empty()) => return None,
            _ if opens && !out.is_empty() => return unreadable("a list of lists, not of numbers"),
            _ if opens || calls => {
                let opened = if opens { first } else { '(' };
                bracket.get_or_insert(opened);
                closing.push(match opened {
                    '[' => ']',
                    '{' => '}',
                    _ => ')',
                });
                (depth, rest) = (depth + 1, &after[1..]);
            }
            // Mismatched brackets are intervals, such as `(0.5, 1]`.
            ']' | ')' | '}' if closing.pop() != Some(first) => return None,
            ']' | ')' | '}' => (depth, rest) = (depth.checked_sub(1)?, &after[1..]),
            _ if word.starts_with('…') || word.starts_with("...") => {
                return (out.len() > 1)
                    .then(|| unreadable("a list abbreviated with `…`; write all its numbers"))
                    .flatten();
            }
            // The type of an array and other arguments follow its numbers.
            _ if after.starts_with('=') && depth > 0 && !out.is_empty() && text.ends_with(')') => {
                (depth, rest) = (0, "")
            }
            _ => {
                match Cell::parse(word.as_bytes()) {
                    Cell::Number(number) => out.push(number),
                    Cell::Missing if token > 0 => out.push(f64::NAN),
                    _ => return None,
                }
                (decimals, rest) = (decimals && word.contains('.'), after);
            }
        }
        if out.len() > MAX_COLUMNS {
            return unreadable(&format!("a list of more than {MAX_COLUMNS} numbers, the supported maximum"));
        }
    }
    match (out.len(), depth) {
        (0, 0) if bracket.is_some() => Some(CellContent::Missing),
        (0, _) => None,
        (_, 0) => (bracket.is_some() || decimals || out.len() >= MANY).then_some(CellContent::List(bracket)),
        _ => unreadable(
            "lists without a closing bracket: truncated, or split at commas because they are not quoted",
        ),
    }
}

/// The EPSG code of longitude and latitude on WGS 84.
const WGS84: u32 = 4326;

/// The reference system of points with planar coordinate names, such as x and y.
const PLANE: u32 = u32::MAX;

/// Words in the names of vectors.
const VECTORS: &str = "embedding embeddings emb vector vectors vec feature features values descriptor";

/// Words in the names of lists that are not vectors.
const NON_VECTORS: &str = "id ids token tokens mask bbox bboxes box boxes label labels shape size color \
                           colour rgb rgba category categories tags date index indices dims length \
                           lengths counts";

/// Words in the names of position lists, as opposed to velocities, normals and colours.
const POSITIONS: &str = "position positions pos xyz coord coords coordinates location point points";

/// Words in the names of places. Their number pairs are latitude and longitude.
const PLACES: &str =
    "location loc geo geolocation geopoint geocode gps latlon latlng latlong lonlat lnglat longlat";

/// Words in the names of positions on the globe or in the plane.
const NEUTRAL: &str = "position pos coord coords coordinate coordinates point centroid";

/// The rank of points; the primary geometry of a file ranks one higher.
pub(super) const POINTS: u8 = 3;

/// The preference rank of vectors: 0 for lists that are not vectors, such as tokens and boxes, then lists of
/// whole numbers, other lists, positions, and lists that are vectors by name.
pub(super) fn rank(name: &str, fractions: bool, point: bool) -> u8 {
    let words = lower_words(name);
    let vector = has_word(&words, VECTORS);
    let other =
        words.last().is_some_and(|last| is_in(last, NON_VECTORS)) || !vector && has_word(&words, NON_VECTORS);
    match () {
        () if other => 0,
        () if vector => 5 + u8::from(fractions),
        () if point => POINTS + u8::from(has_word(&words, "geometry geom")),
        () if has_word(&words, POSITIONS) => POINTS,
        () => 1 + u8::from(fractions),
    }
}

/// Statistics of a column's values.
#[derive(Clone, Debug, Default)]
pub(super) struct VectorDetector {
    /// Number of lists and points, and number of other values.
    pub vectors: u64,
    others: u64,
    /// Number of other values that may be base64 or packed numbers.
    packed: u64,
    /// The first list or point.
    content: Option<CellContent>,
    pub length: usize,
    fractions: bool,
    /// Whether numbers have more than two decimals.
    fine: bool,
    /// The largest absolute value of the first two numbers.
    extent: [f64; 2],
    /// Why the column is not read.
    problem: Option<String>,
}

impl VectorDetector {
    /// Adds a value.
    pub fn add(&mut self, content: CellContent, numbers: &[f64]) {
        self.vectors += u64::from(!content.is_plain());
        let (before, first) = (self.length, self.content.get_or_insert_with(|| content.clone()).clone());
        let problem = match (first, &content) {
            (_, CellContent::Missing) => None,
            (_, CellContent::Other | CellContent::Packed) => {
                (self.others, self.packed) =
                    (self.others + 1, self.packed + u64::from(content == CellContent::Packed));
                None
            }
            (_, CellContent::Unreadable(why)) => Some(why.clone()),
            (CellContent::Point(first), CellContent::Point(srid)) => {
                // Use heights only if all points have one.
                self.length = if before == 0 { numbers.len() } else { before.min(numbers.len()) };
                (first != *srid).then(|| "points of several reference systems".to_owned())
            }
            (CellContent::List(_), CellContent::List(_)) => {
                self.length = if before == 0 { numbers.len() } else { before };
                (self.length != numbers.len())
                    .then(|| format!("lists of {before} and of {} numbers", numbers.len()))
            }
            _ => Some("points and lists".to_owned()),
        };
        if !matches!(self.content, Some(CellContent::List(_) | CellContent::Point(_))) {
            self.content = None;
        }
        self.problem = self.problem.take().or(problem);
        self.fractions |= numbers.iter().any(|number| number.fract() != 0.0);
        self.fine |= numbers.iter().any(|number| (number * 100.0 - (number * 100.0).round()).abs() > 1e-6);
        self.extent.iter_mut().zip(numbers).for_each(|(extent, number)| *extent = extent.max(number.abs()));
    }

    pub fn is_empty(&self) -> bool {
        self.vectors == 0 && self.others == 0
    }

    /// The vector in a column with this name, in a known reference system if there is one; `None` if it is
    /// not a vector.
    pub fn vector(&self, at: usize, name: &str, crs: Option<&Crs>) -> Option<VectorColumn> {
        let point = matches!(self.content, Some(CellContent::Point(_)));
        let geometry = point || self.content.is_none();
        let (shown, rank) = (printable(name), rank(name, self.fractions || geometry, geometry));
        let vector = |columns, why, place, swapped| {
            Some(VectorColumn {
                at,
                columns,
                why,
                rank: rank + u8::from(place && !point),
                point,
                place,
                swapped,
            })
        };
        let refused = |why| vector(Vec::new(), why, false, false);
        if self.packed > 0 && self.packed == self.vectors + self.others && rank > POINTS + 1 {
            return refused("it holds packed bytes or base64; store lists of numbers".to_owned());
        }
        // A few texts that look like lists do not make the column a vector.
        if self.vectors <= self.others || rank == 0 {
            return None;
        }
        if let Some(why) = &self.problem {
            // Lists of whole numbers with varying length are categories or tokens.
            return if geometry || self.fractions || rank > POINTS + 1 {
                refused(format!("it holds {why}"))
            } else {
                None
            };
        }
        if self.others > 0 {
            return refused("some of its values are vectors and others are text".to_owned());
        }
        let [first, second] = self.extent;
        let within = |x: f64, y: f64| x <= 180.0 && y <= 90.0;
        match self.content.as_ref()? {
            CellContent::Point(srid) => {
                let own = if matches!(*srid, 0 | PLANE) {
                    None
                } else {
                    Crs::of_json(&Value::String(format!("EPSG:{srid}")))
                };
                // Most EPSG codes of geographic systems are in this range. Geocentric systems in it have
                // larger values.
                let own = own.map(|own| Crs {
                    geographic: own.geographic || (4001..5000).contains(srid) && within(first, second),
                    ..own
                });
                let (degrees, why) = match crs.or(own.as_ref()) {
                    None if *srid == PLANE => (false, "x and y, taken as a plane"),
                    Some(crs) => (crs.geographic, crs.name.as_str()),
                    None if within(first, second) => {
                        (true, "no CRS; within ±180 and ±90, taken as longitude and latitude")
                    }
                    None => (false, "no CRS; beyond ±180 or ±90, taken as a plane"),
                };
                let height = if degrees && self.length > 2 { "; the height is left out" } else { "" };
                vector(
                    axes(name, self.length, degrees),
                    format!("points of `{shown}`, {why}{height}"),
                    true,
                    false,
                )
            }
            CellContent::List(_) if self.length < 2 => None,
            CellContent::List(bracket) => {
                let (words, lower) = (lower_words(name), name.to_lowercase());
                let (lat, lon) = (lower.find("lat"), lower.find("lon").or(lower.find("lng")));
                let both = lat.is_some() && lon.is_some();
                let latitude_first = match () {
                    () if both => lat < lon,
                    () if !within(second, first) => false,
                    // GeoJSON writes `[longitude, latitude]`, people write `(latitude, longitude)`.
                    () => !(within(first, second) && *bracket == Some('[') && has_word(&words, NEUTRAL)),
                };
                let fits = if latitude_first { within(second, first) } else { within(first, second) };
                if self.length == 2
                    && fits
                    && (both || has_word(&words, PLACES) || has_word(&words, NEUTRAL) && self.fine)
                {
                    let order = if latitude_first { "latitude, longitude" } else { "longitude, latitude" };
                    return vector(
                        axes(name, 2, true),
                        format!("`{shown}` taken as {order}"),
                        true,
                        latitude_first,
                    );
                }
                let element = |at| SheetColumn::element(format!("{name}{at}"));
                vector((0..self.length).map(element).collect(), format!("the list `{shown}`"), false, false)
            }
            _ => None,
        }
    }
}

/// Names of longitudes and latitudes in a structure.
pub(super) const LONGITUDES: &[&str] = &["longitude", "lon", "lng", "long"];
pub(super) const LATITUDES: &[&str] = &["latitude", "lat"];

/// The columns of points: longitude, latitude and height (which is not a coordinate), or x, y and z.
pub(super) fn axes(name: &str, length: usize, degrees: bool) -> Vec<SheetColumn> {
    let lower = name.to_lowercase();
    // A prefix with such a word would make both axes look like the same angle.
    let prefix = if degrees && ["lat", "lon", "lng"].iter().any(|word| lower.contains(word)) {
        String::new()
    } else {
        format!("{name}.")
    };
    let names = if degrees { ["longitude", "latitude", "height"] } else { ["x", "y", "z"] };
    let axis = |axis: &str| SheetColumn::element(format!("{prefix}{axis}"));
    let mut columns: Vec<SheetColumn> = names.into_iter().take(length).map(axis).collect();
    columns.iter_mut().skip(if degrees { 2 } else { 3 }).for_each(|height| height.attribute = true);
    columns
}

/// A column of vectors.
#[derive(Clone, Debug)]
pub(super) struct VectorColumn {
    /// The number of its column.
    pub at: usize,
    /// The columns of their elements; none if unreadable.
    pub columns: Vec<SheetColumn>,
    /// Completes "searches COLUMNS (…)", or says why they are unreadable.
    pub why: String,
    pub rank: u8,
    point: bool,
    /// Whether its columns have axis names instead of numbers.
    pub place: bool,
    /// Whether the latitude, the second column, comes first.
    pub swapped: bool,
}

impl VectorColumn {
    /// A vector of GeoJSON geometries inside other JSON, with `columns` coordinate columns.
    pub fn geojson(at: usize, name: &str, kind: &str, columns: usize) -> Option<Self> {
        let kind = geometry(kind)?;
        let (columns, why) = match kind {
            "Point" => {
                (axes(name, columns.clamp(2, 3), true), format!("GeoJSON points of `{}`", printable(name)))
            }
            _ => (Vec::new(), format!("it holds {}", unreadable(kind))),
        };
        Some(Self {
            at,
            columns,
            why,
            rank: rank(name, true, true),
            point: true,
            place: true,
            swapped: false,
        })
    }

    /// Reads a value: `out` receives a number for each column, NaN if missing.
    ///
    /// # Errors
    /// Why the value does not match.
    pub fn read(&self, cell: &[u8], binary: bool, out: &mut Vec<f64>) -> Result<(), String> {
        let of = self.columns.len();
        match parse(cell, binary, out) {
            CellContent::Missing => {}
            CellContent::Point(_) if self.point => {}
            CellContent::List(_) if !self.point && out.len() == of => {}
            CellContent::List(_) if !self.point => {
                return Err(format!("it has {} numbers, but earlier rows have {of}", out.len()));
            }
            CellContent::Unreadable(why) => return Err(format!("it holds {why}")),
            _ if binary => return Err("it is not a point".to_owned()),
            _ => {
                return Err(format!(
                    "`{}` is not a {}",
                    cell::excerpt(cell),
                    if self.point { "point" } else { "list of numbers" }
                ));
            }
        }
        out.resize(of, f64::NAN);
        if self.swapped {
            out.swap(0, 1);
        }
        Ok(())
    }
}

/// A vector of a file: a list, or positions.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub name: String,
    pub rank: u8,
    /// Its columns; none if unreadable.
    pub columns: Vec<usize>,
    /// As [`VectorColumn::why`].
    pub why: String,
}

/// Appends the columns of vectors to those of a file.
///
/// # Errors
/// Those of [`Input::claim`].
pub(super) fn append(
    columns: &mut Vec<SheetColumn>,
    vectors: &[VectorColumn],
    input: &Input<'_>,
) -> Result<Vec<Candidate>> {
    let each = |vector: &VectorColumn| {
        let (start, name) = (columns.len(), columns[vector.at].name.clone());
        input.claim(SheetColumn::memory_of(vector.columns.len() as u64), "the columns")?;
        columns.extend(vector.columns.iter().cloned());
        Ok(Candidate {
            name,
            rank: vector.rank,
            columns: (start..columns.len()).collect(),
            why: vector.why.clone(),
        })
    };
    vectors.iter().map(each).collect()
}

/// Chooses the vector to search: none if headings name coordinates, which take precedence. Marks the columns
/// of all other vectors as attributes. `numeric` tells whether a column may be a coordinate by its heading.
/// Returns the coordinates, and why none is chosen.
///
/// # Errors
/// [`super::FormatError::Column`] if no columns were chosen, and the vector is unreadable or ambiguous.
pub(super) fn choose_vector(
    columns: &mut [SheetColumn],
    candidates: &[Candidate],
    numeric: impl Fn(usize) -> bool,
    input: &Input<'_>,
    request: &ColumnRequest<'_>,
) -> Result<(Option<DeclaredCoordinates>, Option<String>)> {
    let best = candidates.iter().map(|candidate| candidate.rank).max().unwrap_or(0);
    let best: Vec<&Candidate> = candidates.iter().filter(|candidate| candidate.rank == best).collect();
    let Some(first) = best.first() else { return Ok((None, None)) };
    let named = name_coordinates(columns, numeric);
    let readable: Vec<&&Candidate> = best.iter().filter(|candidate| !candidate.columns.is_empty()).collect();
    let chosen = if let [only] = readable[..] { Some(only) } else { None };
    let mut taken = vec![false; columns.len()];
    chosen.iter().flat_map(|chosen| &chosen.columns).for_each(|&at| taken[at] = true);
    columns
        .iter_mut()
        .zip(taken)
        .for_each(|(column, taken)| column.attribute |= if named { column.element } else { !taken });
    let declared = |chosen: &Candidate| {
        let coordinates = chosen.columns.iter().copied().filter(|&at| !columns[at].attribute).collect();
        DeclaredCoordinates { columns: coordinates, why: chosen.why.clone() }
    };
    let each = |one: &&&Candidate| format!("`{}` (columns {})", printable(&one.name), ranges(&one.columns));
    let (what, why) = match (chosen, readable.is_empty()) {
        _ if named => return Ok((None, None)),
        (Some(chosen), _) => return Ok((Some(declared(chosen)), None)),
        (None, true) => (format!("column `{}`", printable(&first.name)), first.why.clone()),
        (None, false) => {
            let each: Vec<String> = readable.iter().take(8).map(each).collect();
            ("several vectors".to_owned(), format!("any of {} could be meant", each.join(", ")))
        }
    };
    if matches!(request, ColumnRequest::Selected(ColumnChoice::Default)) {
        return Err(input.unusable(what, why, Some(Hint::OtherColumns)));
    }
    Ok((None, Some(format!("{what}: {why}"))))
}
