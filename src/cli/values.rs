//! Takes the values of flags: whole numbers, which are also written as 1e6 or 1_000_000, engines, and metrics
//! by the names that others have for them.

use std::ffi::OsStr;
use std::ops::RangeInclusive;

use anyhow::bail;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};

use super::output;
use super::usage::invalid;
use crate::cloud::{Axis, Globe, PointCloud, Source};
use crate::engines::registry;
use crate::knn::{INNER_PRODUCT, Metric, Ranking};
use crate::run::{Declared, EngineChoice};

/// A whole number in any of these forms.
pub fn whole_number(text: &str) -> Option<u64> {
    let text = text.replace('_', "");
    if !text.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().or_else(|| {
        text.parse::<f64>()
            .ok()
            .filter(|value| value.fract() == 0.0 && *value < 1e15)
            .map(|value| value as u64)
    })
}

/// Takes a whole number, for clap.
pub fn whole<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let number =
        whole_number(text).ok_or_else(|| "a whole number is needed, such as 1000 or 1e6".to_owned())?;
    T::try_from(number).map_err(|_| "it is too large".to_owned())
}

/// Takes a whole number in a range.
pub fn whole_in<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number: u64 = whole(text)?;
        let (least, most) = (range.start(), range.end());
        match T::try_from(number) {
            Ok(number_of_type) if range.contains(&number) => Ok(number_of_type),
            _ if number < *least => Err(format!("it is at least {least}")),
            _ => Err(format!("it is at most {most}")),
        }
    }
}

/// Takes a number in a range.
pub fn number_in(
    range: RangeInclusive<f32>,
) -> impl Fn(&str) -> Result<f32, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("must be between {} and {}", range.start(), range.end()))
    }
}

/// Repeats at most, and warm-ups: more would take days.
pub const MOST_REPEATS: u64 = 1_000_000;

/// One or more, as 32 bits hold.
pub fn at_least_one<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    whole_in(1..=u32::MAX.into())(text)
}

/// Takes engines by a function; shells complete those of this program.
#[derive(Clone, Copy)]
pub struct EngineParser<T>(fn(&str) -> Result<T, String>);

/// Takes an engine with its parameters.
pub fn engine() -> EngineParser<EngineChoice> {
    EngineParser(str::parse)
}

/// Takes a list of engines with their parameters, of which each may have alternatives:
/// `cuda:window=8|16,kdtree` are three.
pub fn engines() -> EngineParser<Vec<EngineChoice>> {
    EngineParser(EngineChoice::list)
}

/// Takes what may be an engine of another program.
pub fn engine_of_any_program() -> EngineParser<String> {
    EngineParser(|text| Ok(text.to_owned()))
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for EngineParser<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        let text = value.to_str().ok_or_else(|| "it is no text".to_owned());
        text.and_then(self.0).map_err(|why| invalid(command, argument, value, &why))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let auto = PossibleValue::new("auto")
            .help("The engine that is predicted to be fastest of those that can run");
        let engines = registry::ENGINES.iter().map(|engine| {
            let parameters: Vec<&str> = engine.parameters.iter().map(|parameter| parameter.name).collect();
            let also = if parameters.is_empty() {
                String::new()
            } else {
                format!(" Parameters: {}", parameters.join(", "))
            };
            PossibleValue::new(engine.id.as_str()).help(format!("{}{also}", engine.about))
        });
        Some(Box::new(std::iter::once(auto).chain(engines)))
    }
}

/// The ranking of a search in a loaded cloud: as given, as its file declares, or by its columns. Notes say
/// what was chosen or assumed.
///
/// # Errors
/// The file declares the inner product.
pub fn ranking_of(gave: Option<Ranking>, cloud: &PointCloud) -> anyhow::Result<Ranking> {
    let axes = cloud.axes();
    let known = declared_ranking(cloud.source(), gave);
    match known {
        Some(Ranking::InnerProduct) if gave.is_none() => {
            bail!(
                "the data are declared for inner products, which only `knn` searches; --metric l2 takes \
                 distances"
            )
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

/// The metric of a search for which none was given: by angle for longitude and latitude or positions in the
/// sky, else l2. A note says so.
fn default_metric(axes: &[Axis]) -> Metric {
    if Globe::recognised(axes).is_some() {
        let (metric, what, unit) = if Globe::is_sky(axes) {
            (Metric::Sky, "positions in the sky", "degrees")
        } else {
            (Metric::Haversine, "longitude and latitude", "km")
        };
        output::chosen(
            &format!(
                "{what} are searched by metric {metric}, in {unit}; --metric l2 treats degrees as plane \
                 coordinates"
            ),
            true,
        );
        return metric;
    }
    if let Some(why) = Globe::not_degrees(axes) {
        output::chosen(&format!("{why}: the columns are searched as a plane, by metric l2"), true);
    }
    Metric::L2
}

/// The ranking that a file declares, where the user `gave` none. A note says so.
pub fn declared_ranking(source: &Source, gave: Option<Ranking>) -> Option<Ranking> {
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
            Metric::Sky => {
                "The angle on the celestial sphere in degrees, of two columns such as right ascension and \
                 declination"
            }
            Metric::Haversine => {
                "The distance on the globe in km, of two columns in degrees: longitude and latitude, told \
                 apart to about 0.5 m"
            }
        };
        let metrics = Metric::ALL.map(|metric| PossibleValue::new(metric.name()).help(about(metric)));
        let product = PossibleValue::new(INNER_PRODUCT)
            .alias("ip")
            .help("The inner product of rows, largest first; it is no distance");
        metrics.into_iter().chain(self.products.then_some(product)).collect()
    }

    /// What a name is, or why it is not taken; `None` where nothing is known of it.
    fn known(self, name: &str) -> Option<Result<Ranking, String>> {
        if let Some(metric) = Metric::named(name) {
            return Some(Ok(Ranking::Distance(metric)));
        }
        Some(match Ranking::by_any_name(name) {
            Some(Ranking::InnerProduct) if self.products && ["ip", INNER_PRODUCT].contains(&name) => {
                Ok(Ranking::InnerProduct)
            }
            Some(Ranking::InnerProduct) if !self.products => {
                Err("the inner product is no distance: `warpscope knn IN --metric inner-product` finds the \
                     rows where it is largest"
                    .to_owned())
            }
            Some(here) => Err(format!("it is called {} here", here.name())),
            None if !Ranking::is_not_offered(name) => return None,
            None => {
                let names: Vec<String> =
                    self.offered().iter().map(|value| value.get_name().to_owned()).collect();
                Err(format!("it is not offered; there are {}", names.join(", ")))
            }
        })
    }
}

impl TypedValueParser for Names {
    type Value = Ranking;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Ranking, clap::Error> {
        match value.to_str().and_then(|name| self.known(name)) {
            Some(known) => known.map_err(|why| invalid(command, argument, value, &why)),
            // clap's own words, with a similar name where there is one; it takes none that is not known.
            None => PossibleValuesParser::new(self.offered())
                .parse_ref(command, argument, value)
                .map(|_| Ranking::Distance(Metric::default())),
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
    fn whole_numbers_have_several_forms() {
        for (text, number) in [
            ("0", 0),
            ("1000", 1000),
            ("1e2", 100),
            ("1.5e3", 1500),
            ("1_000_000", 1_000_000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(whole(text), Ok(number), "{text}");
        }
        for text in ["", "-3", "1.5", "1e-2", "many", "1e300", "inf"] {
            assert!(whole::<u64>(text).is_err(), "{text}");
        }
        assert_eq!(whole::<u32>("5e9"), Err("it is too large".to_owned()));
        assert_eq!(whole::<usize>("few").unwrap_err(), "a whole number is needed, such as 1000 or 1e6");
    }

    #[test]
    fn a_number_outside_its_range_is_refused() {
        let size = number_in(0.1..=100.0);
        assert_eq!((size("0.1"), size("1e2")), (Ok(0.1), Ok(100.0)));
        for text in ["0", "-1", "1e30", "nan", "inf", "", "2px"] {
            assert_eq!(size(text), Err("must be between 0.1 and 100".to_owned()), "{text}");
        }
    }

    #[test]
    fn a_range_names_the_end_that_is_passed() {
        let few = whole_in::<u32>(1..=1024);
        assert_eq!(
            (few("1e3"), few("0"), few("1025")),
            (Ok(1000), Err("it is at least 1".to_owned()), Err("it is at most 1024".to_owned()))
        );
        assert_eq!(at_least_one::<u32>("5e9"), Err("it is at most 4294967295".to_owned()));
    }

    #[test]
    fn names_of_other_programs_are_refused_with_ours() {
        let known = |name: &str| Names { products: true }.known(name);
        assert_eq!(
            (known("ip"), known("inner-product")),
            (Some(Ok(Ranking::InnerProduct)), Some(Ok(Ranking::InnerProduct)))
        );
        assert_eq!(known("L2"), Some(Err("it is called l2 here".to_owned())));
        let not_offered = known("manhattan").expect("it is known").expect_err("it is not offered");
        assert!(not_offered.starts_with("it is not offered; there are l2, "), "{not_offered}");
        assert!(
            Names { products: false }
                .known("dot")
                .is_some_and(|dot| dot.is_err_and(|why| why.contains("--metric inner-product")))
        );
        assert_eq!((known("haversin"), known("cosine")), (None, Some(Ok(Ranking::Distance(Metric::Cosine)))));
    }
}
