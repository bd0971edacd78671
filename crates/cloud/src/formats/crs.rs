//! Coordinate reference systems, reduced to what a search needs: whether coordinates are degrees, their unit,
//! and a display name.

use serde_json::Value;

use super::{Endian, NumberType, printable};

/// A horizontal system.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Crs {
    /// Whether its axes are longitude and latitude; otherwise they are lengths.
    pub geographic: bool,
    /// `EPSG:25832`, or the name that the file gives.
    pub name: String,
    /// The unit of the axes in the plural; empty if the file leaves it to the name.
    pub unit: String,
}

/// Units by their EPSG codes.
const UNITS: [(u16, &str); 5] =
    [(9001, "metres"), (9002, "feet"), (9003, "US survey feet"), (9102, "degrees"), (9122, "degrees")];

/// EPSG codes of geographic systems.
const GEOGRAPHIC: [u32; 30] = [
    4326, 4979, 4258, 4937, 4269, 4267, 4759, 6318, 4283, 7844, 4612, 6668, 4490, 4674, 4617, 4167, 4230,
    4314, 4277, 4312, 4150, 4171, 4619, 4202, 4203, 4148, 4755, 4322, 4740, 9057,
];

/// The code that says "defined by other keys".
const USER_DEFINED: u16 = 32767;

impl Crs {
    /// Name and unit: `EPSG:25832, metres`.
    pub fn about(&self) -> String {
        [self.name.as_str(), self.unit.as_str()]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Parses GeoTIFF keys and the texts they refer to; `None` if they do not name a system.
    pub fn of_keys(keys: &[u8], texts: &[u8]) -> Option<Self> {
        let number = |raw: &[u8]| NumberType::U16.decode_one(Endian::Little, raw) as u16;
        let keys: Vec<[u16; 4]> = keys
            .as_chunks::<8>()
            .0
            .iter()
            .skip(1)
            .map(|raw| [0, 2, 4, 6].map(|at| number(&raw[at..at + 2])))
            .collect();
        let value = |key| {
            keys.iter()
                .find(|entry| entry[0] == key && entry[1] == 0)
                .map(|entry| entry[3])
                .filter(|&value| value != 0)
        };
        let text = |key| {
            let &[_, _, length, at] = keys.iter().find(|entry| entry[0] == key && entry[1] != 0)?;
            let text = texts.get(usize::from(at)..)?.get(..usize::from(length))?;
            Some(printable(String::from_utf8_lossy(text).trim_matches(['|', '\0', ' '])))
        };
        let geographic = match value(1024) {
            None if value(3072).or(value(2048)).is_none() => return None,
            None => value(3072).is_none(),
            Some(model) => model == 2,
        };
        let (code, citation, unit) =
            if geographic { (2048, 2049, value(2054)) } else { (3072, 3073, value(3076)) };
        let name = value(code).filter(|&code| code != USER_DEFINED).map(|code| format!("EPSG:{code}"));
        let name = name
            .or_else(|| text(citation))
            .or_else(|| text(1026))
            .unwrap_or_else(|| "unnamed system".to_owned());
        let named = |code| {
            UNITS
                .iter()
                .find(|unit| unit.0 == code)
                .map_or_else(|| format!("units EPSG:{code}"), |unit| unit.1.to_owned())
        };
        Some(Self { geographic, name, unit: unit.map(named).unwrap_or_default() })
    }

    /// Parses the notations of GeoParquet, GeoArrow and GeoJSON: PROJJSON, well-known text, or an authority's
    /// code; `None` if no system is named.
    pub fn of_json(value: &Value) -> Option<Self> {
        let named = |geographic, name: &str| Self {
            geographic,
            name: printable(&name.chars().take(60).collect::<String>()),
            unit: String::new(),
        };
        let Some(text) = value.as_str() else {
            // Use the horizontal part of a bound or compound system.
            if let Some(within) = value.get("source_crs").or_else(|| value.get("components")?.get(0)) {
                return Self::of_json(within);
            }
            let kind = value.get("type")?.as_str()?;
            let is = |kinds: &[&str]| kinds.iter().any(|known| kind.contains(known));
            let geographic = is(&["Geographic", "Geodetic"]);
            let name = value.get("name").and_then(Value::as_str).unwrap_or(kind);
            return (geographic || is(&["Projected", "Engineering"])).then(|| named(geographic, name));
        };
        if let Ok(object @ Value::Object(_)) = serde_json::from_str(text) {
            return Self::of_json(&object);
        }
        let code = || text.rsplit([':', '/']).next()?.parse().ok();
        let upper = text.to_ascii_uppercase();
        let geographic = || {
            ["CRS84", "CRS83", "CRS27"].iter().any(|name| upper.contains(name))
                || code().is_some_and(|code| GEOGRAPHIC.contains(&code))
        };
        Self::of_wkt(text).or_else(|| (!text.is_empty()).then(|| named(geographic(), text)))
    }

    /// Parses well-known text, version 1 or 2; `None` for other text.
    pub fn of_wkt(text: &str) -> Option<Self> {
        const ANGLES: [&str; 5] = ["GEOGCS", "GEOGCRS", "GEOGRAPHICCRS", "GEODCRS", "GEODETICCRS"];
        const OTHERS: [&str; 6] = ["PROJCS", "PROJCRS", "PROJECTEDCRS", "GEOCCS", "LOCAL_CS", "ENGCRS"];
        const DEEPEST: usize = 32;
        // The open elements, and the first horizontal system with its depth. Systems nested in it are its
        // base systems.
        let (mut open, mut found): (Vec<&str>, Option<(Self, usize)>) = (Vec::new(), None);
        let (mut rest, mut authority) = (text, "");
        while let Some(at) = rest.find(['[', '(', ']', ')', '"']).filter(|_| open.len() < DEEPEST) {
            let (before, mark) = (rest[..at].trim_matches([',', ' ', '\t', '\r', '\n']), rest.as_bytes()[at]);
            rest = &rest[at + 1..];
            let last = open.last().copied().unwrap_or_default();
            match (mark, &mut found) {
                (b'[' | b'(', _) => open.push(before.rsplit(',').next().unwrap_or_default().trim()),
                (b'"', found) => {
                    let (value, after) = rest.split_once('"')?;
                    rest = after;
                    match found {
                        None if ANGLES.contains(&last) || OTHERS.contains(&last) => {
                            let geographic = ANGLES.contains(&last);
                            *found = Some((
                                Self { geographic, name: printable(value), unit: String::new() },
                                open.len(),
                            ));
                        }
                        None => {}
                        Some((crs, depth)) => match (last, &open[*depth..]) {
                            ("ID" | "AUTHORITY", [_]) if authority.is_empty() => authority = value,
                            ("AUTHORITY", [_]) => crs.name = format!("{authority}:{}", printable(value)),
                            ("UNIT" | "LENGTHUNIT" | "ANGLEUNIT", [_] | ["AXIS", _])
                                if crs.unit.is_empty() =>
                            {
                                crs.unit = plural(value)
                            }
                            _ => {}
                        },
                    }
                }
                (_, None) => drop(open.pop()),
                (_, Some((crs, depth))) => {
                    match (last, &open[*depth..]) {
                        ("ID", [_]) => crs.name = format!("{authority}:{}", printable(before)),
                        ("CS", [_]) if before.starts_with("Cartesian") => crs.geographic = false,
                        _ => {}
                    }
                    open.pop();
                    if open.len() < *depth {
                        break;
                    }
                }
            }
        }
        found.map(|(crs, _)| crs)
    }
}

/// A WKT unit name in the plural.
fn plural(unit: &str) -> String {
    let lower = unit.to_lowercase();
    match lower.as_str() {
        "metre" | "meter" | "m" => "metres".to_owned(),
        "degree" => "degrees".to_owned(),
        "foot" | "international foot" | "ft" => "feet".to_owned(),
        _ if lower.contains("survey") || lower.starts_with("foot_us") || lower == "us-ft" => {
            "US survey feet".to_owned()
        }
        _ => printable(unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(wkt: &str) -> Option<(bool, String)> {
        Crs::of_wkt(wkt).map(|crs| (crs.geographic, crs.about()))
    }

    #[test]
    fn wkt1_and_wkt2_are_parsed() {
        let globe = concat!(
            r#"GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,"#,
            r#"AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0],"#,
            r#"UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AUTHORITY["EPSG","4326"]]"#,
        );
        let plane = format!(
            concat!(
                r#"PROJCS["NAD83 / Ohio South (ftUS)",{globe},PROJECTION["Lambert_Conformal_Conic_2SP"],"#,
                r#"UNIT["US survey foot",0.304800609601219],AXIS["X",EAST],AUTHORITY["EPSG","3735"]]"#,
            ),
            globe = globe
        );
        let height =
            r#"VERT_CS["NAVD88",VERT_DATUM["NAVD 88",2005],UNIT["metre",1],AUTHORITY["EPSG","5703"]]"#;
        let base = concat!(
            r#"BASEGEOGCRS["ETRS89",DATUM["ETRS",ELLIPSOID["GRS 1980",6378137,298.257222101,"#,
            r#"LENGTHUNIT["metre",1]]],ID["EPSG",4258]]"#,
        );
        let modern = format!(
            concat!(
                r#"PROJCRS["ETRS89 / UTM zone 32N",{base},CONVERSION["UTM zone 32N","#,
                r#"METHOD["Transverse Mercator",ID["EPSG",9807]]],CS[Cartesian,2],"#,
                r#"AXIS["(E)",east,ORDER[1],LENGTHUNIT["metre",1]],ID["EPSG",25832]]"#,
            ),
            base = base
        );
        for (wkt, geographic, about) in [
            (globe.to_owned(), true, "EPSG:4326, degrees"),
            (format!(r#"COMPD_CS["both",{globe},{height}]"#), true, "EPSG:4326, degrees"),
            (plane.clone(), false, "EPSG:3735, US survey feet"),
            (format!("COMPD_CS[\"both\",\n  {plane},\n  {height}]\0"), false, "EPSG:3735, US survey feet"),
            (modern.clone(), false, "EPSG:25832, metres"),
            (format!(r#"BOUNDCRS[SOURCECRS[{modern}],TARGETCRS[{globe}]]"#), false, "EPSG:25832, metres"),
            (
                concat!(
                    r#"GEOGCRS["A",DATUM["B",ELLIPSOID["C",6378137,298,LENGTHUNIT["metre",1]]],"#,
                    r#"CS[ellipsoidal,3],AXIS["lat",north,ANGLEUNIT["grad",0.0157]],"#,
                    r#"AXIS["h",up,LENGTHUNIT["metre",1]]]"#,
                )
                .to_owned(),
                true,
                "A, grad",
            ),
            (
                concat!(
                    r#"GEODCRS["WGS 84",CS[Cartesian,3],AXIS["X",geocentricX],LENGTHUNIT["metre",1],"#,
                    r#"ID["EPSG",4978]]"#,
                )
                .to_owned(),
                false,
                "EPSG:4978, metres",
            ),
            (r#"LOCAL_CS["site",UNIT["foot",0.3048]]"#.to_owned(), false, "site, feet"),
        ] {
            assert_eq!(told(&wkt), Some((geographic, about.to_owned())), "{wkt}");
        }
        for nothing in ["", "VERT_CS[\"a\",UNIT[\"metre\",1]]", "WGS 84", "]]]\"", &"ID[\"a\",".repeat(9999)]
        {
            assert_eq!(told(nothing), None, "{nothing}");
        }
        // Truncated anywhere.
        (0..modern.len()).for_each(|end| drop(told(&modern[..end])));
    }

    #[test]
    fn geotiff_keys_are_parsed() {
        let keys = |entries: &[[u16; 4]]| {
            let head = [1, 1, 0, entries.len() as u16];
            [&[head], entries]
                .concat()
                .iter()
                .flatten()
                .flat_map(|value| value.to_le_bytes())
                .collect::<Vec<u8>>()
        };
        let texts = b"NAD27 / Utah|Clarke|";
        for (entries, told) in [
            (
                &[[1024, 0, 1, 2], [2048, 0, 1, 4326], [2054, 0, 1, 9102]][..],
                Some((true, "EPSG:4326, degrees")),
            ),
            (
                &[[1024, 0, 1, 2], [2048, 0, 1, 4807], [2054, 0, 1, 9105]],
                Some((true, "EPSG:4807, units EPSG:9105")),
            ),
            (&[[2048, 0, 1, 4326]], Some((true, "EPSG:4326"))),
            (
                &[[1024, 0, 1, 1], [2048, 0, 1, 4269], [3072, 0, 1, 2926], [3076, 0, 1, 9003]],
                Some((false, "EPSG:2926, US survey feet")),
            ),
            (&[[1024, 0, 1, 1], [3072, 0, 1, 32767], [3073, 34737, 13, 0]], Some((false, "NAD27 / Utah"))),
            (&[[1024, 0, 1, 3]], Some((false, "unnamed system"))),
            (&[[1026, 34737, 99, 0]], None),
            (&[], None),
        ] {
            let found = Crs::of_keys(&keys(entries), texts).map(|crs| (crs.geographic, crs.about()));
            assert_eq!(found, told.map(|(geographic, about)| (geographic, about.to_owned())), "{entries:?}");
        }
        assert_eq!(Crs::of_keys(&[1, 2, 3], texts), None);
    }
}
