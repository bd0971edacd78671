//! Takes the name of a metric, and knows what others call it.

use std::ffi::OsStr;

use anyhow::bail;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};

use super::input::{invalid, note_assumed};
use super::output;
use crate::cloud::{Axis, Globe, PointCloud, Source, formats};
use crate::knn::Metric;
use crate::printable::name as printable;
use crate::progress::Silent;

/// The name of the inner product, which is no [`Metric`].
pub const INNER_PRODUCT: &str = "inner-product";

/// By what rows are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranking {
    Distance(Metric),
    /// The larger, the nearer.
    InnerProduct,
}

impl Ranking {
    pub fn name(self) -> &'static str {
        match self {
            Self::Distance(metric) => metric.name(),
            Self::InnerProduct => INNER_PRODUCT,
        }
    }

    /// The unit of what is reported, if it has one.
    pub fn unit(self) -> Option<&'static str> {
        match self {
            Self::Distance(metric) => metric.unit(),
            Self::InnerProduct => None,
        }
    }
}

/// The metric of a search in a loaded cloud: as given, as its file declares, or by its columns. Notes say what was chosen or assumed.
///
/// # Errors
/// The file declares the inner product.
pub fn metric_of(gave: Option<Metric>, cloud: &PointCloud) -> anyhow::Result<Metric> {
    let axes = cloud.axes();
    let known = declared_metric(Some(cloud.source()), gave)?;
    if known.is_some_and(Metric::is_on_sphere) {
        note_assumed(axes);
    }
    Ok(known.unwrap_or_else(|| default_metric(axes)))
}

/// The metric of a search for which none was given: by angle for longitude and latitude or positions in the sky, else l2. A note says so.
fn default_metric(axes: &[Axis]) -> Metric {
    if Globe::recognised(axes).is_some() {
        let (metric, what, unit) =
            if Globe::is_sky(axes) { (Metric::Sky, "positions in the sky", "degrees") } else { (Metric::Haversine, "longitude and latitude", "km") };
        output::chosen(&format!("{what} are searched by metric {metric}, in {unit}; --metric l2 takes degrees as a plane"), true);
        return metric;
    }
    if let Some(why) = Globe::not_degrees(axes) {
        output::chosen(&format!("{why}: the columns are searched as a plane, by metric l2"), true);
    }
    Metric::L2
}

/// What others call it, and what it is here.
const OTHER_NAMES: [(&str, &str); 6] = [
    ("euclidean euclid sqeuclidean squared-euclidean l2sq l2-squared", "l2"),
    ("cos cosine-similarity cosine-distance", "cosine"),
    ("angle arccos arccosine", "angular"),
    ("dot dot-product inner innerproduct ip mips max-inner-product", INNER_PRODUCT),
    ("great-circle greatcircle geo geodesic geodetic globe", "haversine"),
    ("celestial separation angular-separation radec ra-dec", "sky"),
];

/// Distances that others have.
const NOT_OFFERED: &str = "manhattan cityblock taxicab l1 chebyshev chebychev linf l-inf linfinity minkowski lp hamming jaccard dice canberra braycurtis \
    mahalanobis correlation pearson levenshtein edit";

/// A name without case and in one spelling.
fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace(['_', ' '], "-")
}

/// What a metric is called here, by any of its names.
fn here(name: &str) -> Option<&'static str> {
    let plain = plain(name);
    let ours = Metric::ALL.map(Metric::name).into_iter().chain([INNER_PRODUCT]).find(|ours| *ours == plain);
    ours.or_else(|| OTHER_NAMES.iter().find(|(names, _)| names.split_whitespace().any(|name| name == plain)).map(|&(_, here)| here))
}

/// The ranking that a name means, by whatever program it was given.
pub fn ranking(name: &str) -> Option<Ranking> {
    here(name).map(|here| Metric::named(here).map_or(Ranking::InnerProduct, Ranking::Distance))
}

/// The ranking that a file declares by its attribute `distance`, as benchmarks do, where the user `gave` none. A note says so.
pub fn declared(source: Option<&Source>, gave: Option<Ranking>) -> Option<Ranking> {
    let Some(Source::File { path, .. }) = source.filter(|_| gave.is_none()) else { return gave };
    // A file that cannot be read is reported when its data are.
    let name = formats::attribute(path, "distance", &Silent).ok()??;
    let (found, file) = (ranking(&name), path.display());
    match found {
        Some(Ranking::Distance(Metric::L2)) => {}
        Some(ranking) => output::note(&format!("metric {}, by the attribute `distance` of {file}", ranking.name())),
        None => output::note(&format!("the attribute `distance` of {file} is `{}`, which is not offered; l2 is used", printable(name.trim()))),
    }
    found.or(Some(Ranking::Distance(Metric::L2)))
}

/// As [`declared`], for commands that search by distance only.
///
/// # Errors
/// The file declares the inner product.
fn declared_metric(source: Option<&Source>, gave: Option<Metric>) -> anyhow::Result<Option<Metric>> {
    match declared(source, gave.map(Ranking::Distance)) {
        Some(Ranking::InnerProduct) => bail!("the data are declared for inner products, which only `knn` searches; --metric l2 takes distances"),
        Some(Ranking::Distance(metric)) => Ok(Some(metric)),
        None => Ok(None),
    }
}

/// Takes the name of a metric.
pub fn metrics() -> impl TypedValueParser<Value = Metric> {
    Names { products: false }.try_map(|ranking| match ranking {
        Ranking::Distance(metric) => Ok(metric),
        Ranking::InnerProduct => Err("`knn` takes it".to_owned()),
    })
}

/// Takes the name of a metric, or that of the inner product.
pub fn rankings() -> impl TypedValueParser<Value = Ranking> {
    Names { products: true }
}

#[derive(Clone, Copy)]
struct Names {
    /// Whether the inner product is taken.
    products: bool,
}

impl Names {
    fn offered(self) -> Vec<PossibleValue> {
        let about = |metric| match metric {
            Metric::L2 => "The straight distance; its square is what is compared",
            Metric::Angular => "The angle between rows as vectors",
            Metric::Cosine => "1 − cos of that angle: the same neighbours",
            Metric::Sky => "The angle on the celestial sphere in degrees, of two columns such as right ascension and declination",
            Metric::Haversine => "The distance on the globe in km, of two columns in degrees: longitude and latitude, told apart to about 0.5 m",
        };
        let metrics = Metric::ALL.map(|metric| PossibleValue::new(metric.name()).help(about(metric)));
        let product = PossibleValue::new(INNER_PRODUCT).alias("ip").help("The inner product of rows, largest first; it is no distance");
        metrics.into_iter().chain(self.products.then_some(product)).collect()
    }

    /// What a name is, or why it is not taken; `None` where nothing is known of it.
    fn known(self, name: &str) -> Option<Result<Ranking, String>> {
        if let Some(metric) = Metric::named(name) {
            return Some(Ok(Ranking::Distance(metric)));
        }
        Some(match here(name) {
            Some(INNER_PRODUCT) if self.products && ["ip", INNER_PRODUCT].contains(&name) => Ok(Ranking::InnerProduct),
            Some(INNER_PRODUCT) if !self.products => {
                Err("the inner product is no distance: `warpscope knn IN --metric inner-product` finds the rows where it is largest".to_owned())
            }
            Some(here) => Err(format!("it is called {here} here")),
            None if !NOT_OFFERED.split_whitespace().any(|other| other == plain(name)) => return None,
            None => {
                let names: Vec<String> = self.offered().iter().map(|value| value.get_name().to_owned()).collect();
                Err(format!("it is not offered; there are {}", names.join(", ")))
            }
        })
    }
}

impl TypedValueParser for Names {
    type Value = Ranking;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<Ranking, clap::Error> {
        match value.to_str().and_then(|name| self.known(name)) {
            Some(known) => known.map_err(|why| invalid(command, argument, value, &why)),
            // clap's own words, with a similar name where there is one; it takes none that is not known.
            None => PossibleValuesParser::new(self.offered()).parse_ref(command, argument, value).map(|_| Ranking::Distance(Metric::default())),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.offered().into_iter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_name_is_told() {
        let others = OTHER_NAMES.iter().map(|(names, _)| *names);
        let all: Vec<&str> = others.chain([NOT_OFFERED]).flat_map(str::split_whitespace).collect();
        for (at, name) in all.iter().enumerate() {
            assert!(!all[..at].contains(name) && Metric::named(name).is_none(), "{name}");
            assert!(Names { products: false }.known(name).is_some_and(|known| known.is_err()), "{name}");
        }
        for (_, here) in OTHER_NAMES {
            assert!(here == INNER_PRODUCT || Metric::named(here).is_some(), "{here}");
        }
        let known = |name: &str| Names { products: true }.known(name);
        assert_eq!((known("ip"), known("inner-product")), (Some(Ok(Ranking::InnerProduct)), Some(Ok(Ranking::InnerProduct))));
        assert_eq!(known("L2"), Some(Err("it is called l2 here".to_owned())));
        assert_eq!((known("haversin"), known("cosine")), (None, Some(Ok(Ranking::Distance(Metric::Cosine)))));
    }
}
