//! Distance metrics. All are the squared L2 between points derived from the rows: the rows themselves, or
//! unit vectors.

use serde::{Deserialize, Serialize};

use crate::cloud::globe::EARTH_RADIUS_KM;

/// The distance between two rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    #[default]
    L2,
    /// The angle between rows as vectors; reported as the squared chord between unit vectors.
    Angular,
    /// 1 − cos of that angle, half the squared chord, so the neighbours equal those of [`Self::Angular`].
    Cosine,
    /// The angle between positions on the celestial sphere, given in degrees such as right ascension and
    /// declination; reported as the squared chord.
    Sky,
    /// The great-circle distance between positions given in degrees of longitude and latitude; reported as
    /// the squared chord.
    Haversine,
}

/// Names of a metric and of its distances.
struct MetricNames {
    /// On the command line and in files.
    metric: &'static str,
    /// Column of distances in tables.
    column: &'static str,
    /// Column heading with the unit.
    heading: &'static str,
    unit: Option<&'static str>,
    /// Array of distances in archives, one for all neighbours.
    array: &'static str,
}

impl Metric {
    pub const ALL: [Self; 5] = [Self::L2, Self::Angular, Self::Cosine, Self::Haversine, Self::Sky];

    fn names(self) -> &'static MetricNames {
        match self {
            Self::L2 => &MetricNames {
                metric: "l2",
                column: "distance",
                heading: "distance",
                unit: None,
                array: "distances",
            },
            Self::Angular => &MetricNames {
                metric: "angular",
                column: "angle",
                heading: "angle (rad)",
                unit: Some("rad"),
                array: "angles",
            },
            Self::Cosine => &MetricNames {
                metric: "cosine",
                column: "cosine_distance",
                heading: "cosine distance",
                unit: None,
                array: "cosine_distances",
            },
            Self::Sky => &MetricNames {
                metric: "sky",
                column: "separation_deg",
                heading: "separation (°)",
                unit: Some("°"),
                array: "separations_deg",
            },
            Self::Haversine => &MetricNames {
                metric: "haversine",
                column: "distance_km",
                heading: "distance (km)",
                unit: Some("km"),
                array: "distances_km",
            },
        }
    }

    /// Spelling on the command line and in files.
    pub fn name(self) -> &'static str {
        self.names().metric
    }

    /// Looks up a metric by name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Whether only a row's direction from the origin matters. A zero row then has no direction.
    pub fn compares_directions(self) -> bool {
        matches!(self, Self::Angular | Self::Cosine)
    }

    /// Whether rows are longitude and latitude, searched as unit vectors.
    pub fn is_on_sphere(self) -> bool {
        matches!(self, Self::Haversine | Self::Sky)
    }

    /// Number of searched dimensions of a cloud with `columns` columns.
    pub fn dims(self, columns: usize) -> usize {
        match self {
            Self::L2 | Self::Angular | Self::Cosine => columns,
            Self::Haversine | Self::Sky => 3,
        }
    }

    /// Converts a squared distance D to the customary one: √D; the angle in radians, 2·asin(min(1, √D/2)); 1
    /// − cos of it, D/2; the angle in degrees; or the distance on the Earth in km.
    pub fn distance(self, squared: f32) -> f64 {
        self.distance_of(f64::from(squared))
    }

    /// Like [`Self::distance`], for a squared distance in f64.
    pub fn distance_of(self, squared: f64) -> f64 {
        match self {
            Self::L2 => squared.sqrt(),
            Self::Angular => angle(squared),
            Self::Cosine => squared / 2.0,
            Self::Sky => angle(squared).to_degrees(),
            Self::Haversine => EARTH_RADIUS_KM * angle(squared),
        }
    }

    /// The column of [`Self::distance`] in tables.
    pub fn column(self) -> &'static str {
        self.names().column
    }

    /// The array of [`Self::distance`] in archives, one for all neighbours.
    pub fn array(self) -> &'static str {
        self.names().array
    }

    /// The heading of [`Self::distance`], with its unit.
    pub fn heading(self) -> &'static str {
        self.names().heading
    }

    /// The unit of [`Self::distance`]; L2 has the cloud's unit, and a cosine distance has none.
    pub fn unit(self) -> Option<&'static str> {
        self.names().unit
    }
}

/// The angle between unit vectors, from their squared chord.
fn angle(squared: f64) -> f64 {
    2.0 * (squared.sqrt() / 2.0).min(1.0).asin()
}

impl std::fmt::Display for Metric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The name of the inner product, which is not a [`Metric`].
pub const INNER_PRODUCT: &str = "inner-product";

/// What neighbours are ranked by: a distance, smallest first, or the inner product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranking {
    Distance(Metric),
    /// Largest first.
    InnerProduct,
}

impl Ranking {
    pub fn name(self) -> &'static str {
        self.metric().map_or(INNER_PRODUCT, Metric::name)
    }

    /// The metric; `None` for the inner product.
    pub fn metric(self) -> Option<Metric> {
        match self {
            Self::Distance(metric) => Some(metric),
            Self::InnerProduct => None,
        }
    }

    /// The unit of the reported values, if any.
    pub fn unit(self) -> Option<&'static str> {
        self.metric().and_then(Metric::unit)
    }

    /// Looks up a ranking by its name in this or another program: `euclidean` is L2.
    pub fn from_alias(name: &str) -> Option<Self> {
        let plain = plain(name);
        let ours =
            Metric::ALL.map(Metric::name).into_iter().chain([INNER_PRODUCT]).find(|ours| *ours == plain);
        let theirs = || {
            ALIASES
                .iter()
                .find(|(names, _)| names.split_whitespace().any(|name| name == plain))
                .map(|&(_, ours)| ours)
        };
        ours.or_else(theirs).map(|ours| Metric::named(ours).map_or(Self::InnerProduct, Self::Distance))
    }

    /// Whether a name is a known distance that this program does not support.
    pub fn is_unsupported(name: &str) -> bool {
        let plain = plain(name);
        UNSUPPORTED.split_whitespace().any(|other| other == plain)
    }
}

/// Names in other programs, separated by spaces, and the name here.
const ALIASES: [(&str, &str); 6] = [
    ("euclidean euclid sqeuclidean squared-euclidean l2sq l2-squared", "l2"),
    ("cos cosine-similarity cosine-distance", "cosine"),
    ("angle arccos arccosine", "angular"),
    ("dot dot-product inner innerproduct ip mips max-inner-product", INNER_PRODUCT),
    ("great-circle greatcircle geo geodesic geodetic globe", "haversine"),
    ("celestial separation angular-separation radec ra-dec", "sky"),
];

/// Distances of other programs that this one does not support.
const UNSUPPORTED: &str = "manhattan cityblock taxicab l1 chebyshev chebychev linf l-inf linfinity \
                           minkowski lp hamming jaccard dice canberra braycurtis mahalanobis correlation \
                           pearson levenshtein edit";

/// Lower case, with spaces and underscores as hyphens.
fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace(['_', ' '], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metric_distances_are_derived_from_squared_chords() {
        // A right angle: the chord between unit vectors is √2.
        let right = |metric: Metric| metric.distance(2.0);
        assert!((right(Metric::Angular) - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
        assert_eq!(
            (right(Metric::Cosine), Metric::Cosine.distance(4.0), Metric::Cosine.distance(0.0)),
            (1.0, 2.0, 0.0)
        );
        for metric in Metric::ALL {
            assert_eq!(Metric::named(metric.name()), Some(metric));
            assert_eq!(
                serde_json::to_value(metric).unwrap(),
                metric.name(),
                "files and the command line use the same name"
            );
        }
    }

    #[test]
    fn metric_aliases_are_unambiguous() {
        let others = ALIASES.iter().map(|(names, _)| *names);
        let all: Vec<&str> = others.chain([UNSUPPORTED]).flat_map(str::split_whitespace).collect();
        for (at, name) in all.iter().enumerate() {
            assert!(!all[..at].contains(name) && Metric::named(name).is_none(), "{name}");
            assert_eq!(Ranking::from_alias(name).is_none(), Ranking::is_unsupported(name), "{name}");
        }
        for (names, ours) in ALIASES {
            assert!(
                names
                    .split_whitespace()
                    .all(|name| Ranking::from_alias(name).is_some_and(|ranking| ranking.name() == ours)),
                "{ours}"
            );
        }
        assert_eq!(Ranking::from_alias(" Squared_Euclidean "), Some(Ranking::Distance(Metric::L2)));
        assert_eq!(Ranking::from_alias("haversin"), None);
    }
}
