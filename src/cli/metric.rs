//! Takes the name of a metric, and knows what others call it.

use std::ffi::OsStr;

use anyhow::bail;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};

use super::output;
use super::usage::invalid;
use crate::cloud::{Axis, Globe, PointCloud, Source};
use crate::knn::{INNER_PRODUCT, Metric, Ranking};
use crate::run::Declared;

/// The ranking of a search in a loaded cloud: as given, as its file declares, or by its columns. Notes say what was chosen or assumed.
///
/// # Errors
/// The file declares the inner product.
pub fn resolve(gave: Option<Ranking>, cloud: &PointCloud) -> anyhow::Result<Ranking> {
    let axes = cloud.axes();
    let known = declared(cloud.source(), gave);
    match known {
        Some(Ranking::InnerProduct) if gave.is_none() => {
            bail!("the data are declared for inner products, which only `knn` searches; --metric l2 takes distances")
        }
        Some(Ranking::Distance(metric)) if metric.is_on_sphere() => note_assumed(axes),
        _ => {}
    }
    Ok(known.unwrap_or_else(|| Ranking::Distance(default_metric(axes))))
}

/// Says which column a search on the globe takes as longitude, where their names do not.
pub fn note_assumed(axes: &[Axis]) {
    if let Some(note) = Globe::of(axes).ok().and_then(|globe| globe.note(axes)) {
        output::note(&format!("{note}; --columns chooses others"));
    }
}

/// The metric of a search for which none was given: by angle for longitude and latitude or positions in the sky, else l2. A note says so.
fn default_metric(axes: &[Axis]) -> Metric {
    if Globe::recognised(axes).is_some() {
        let (metric, what, unit) =
            if Globe::is_sky(axes) { (Metric::Sky, "positions in the sky", "degrees") } else { (Metric::Haversine, "longitude and latitude", "km") };
        output::chosen(&format!("{what} are searched by metric {metric}, in {unit}; --metric l2 treats degrees as plane coordinates"), true);
        return metric;
    }
    if let Some(why) = Globe::not_degrees(axes) {
        output::chosen(&format!("{why}: the columns are searched as a plane, by metric l2"), true);
    }
    Metric::L2
}

/// The ranking that a file declares, where the user `gave` none. A note says so.
pub fn declared(source: &Source, gave: Option<Ranking>) -> Option<Ranking> {
    let (Source::File { path, .. }, None) = (source, gave) else { return gave };
    let declared = Declared::of(path)?;
    if let Some(sentence) = declared.sentence() {
        output::note(&format!("{sentence}: {}", path.display()));
    }
    Some(declared.ranking.unwrap_or(Ranking::Distance(Metric::L2)))
}

/// Takes the name of a metric.
pub fn metrics() -> impl TypedValueParser<Value = Ranking> {
    Names { products: false }
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
        Some(match Ranking::by_any_name(name) {
            Some(Ranking::InnerProduct) if self.products && ["ip", INNER_PRODUCT].contains(&name) => Ok(Ranking::InnerProduct),
            Some(Ranking::InnerProduct) if !self.products => {
                Err("the inner product is no distance: `warpscope knn IN --metric inner-product` finds the rows where it is largest".to_owned())
            }
            Some(here) => Err(format!("it is called {} here", here.name())),
            None if !Ranking::is_not_offered(name) => return None,
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
    fn names_of_other_programs_are_refused_with_ours() {
        let known = |name: &str| Names { products: true }.known(name);
        assert_eq!((known("ip"), known("inner-product")), (Some(Ok(Ranking::InnerProduct)), Some(Ok(Ranking::InnerProduct))));
        assert_eq!(known("L2"), Some(Err("it is called l2 here".to_owned())));
        let not_offered = known("manhattan").expect("it is known").expect_err("it is not offered");
        assert!(not_offered.starts_with("it is not offered; there are l2, "), "{not_offered}");
        assert!(Names { products: false }.known("dot").is_some_and(|dot| dot.is_err_and(|why| why.contains("--metric inner-product"))));
        assert_eq!((known("haversin"), known("cosine")), (None, Some(Ok(Ranking::Distance(Metric::Cosine)))));
    }
}
