//! Parsers for values of flags: whole numbers (also 1e6 or 1_000_000), engines, and metrics, including names
//! that other programs use.

use std::ffi::OsStr;
use std::ops::RangeInclusive;

use anyhow::bail;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};

use super::output;
use super::usage::invalid;
use crate::cloud::{Axis, GlobeAxes, PointCloud, Source};
use crate::engines::registry;
use crate::knn::{INNER_PRODUCT, Metric, Ranking};
use crate::run::{DeclaredMetric, EngineChoice};

/// Parses `1000`, `1e3` or `1_000`.
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

/// Parses a whole number, for clap.
pub fn whole<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let number =
        whole_number(text).ok_or_else(|| "expected a whole number, such as 1000 or 1e6".to_owned())?;
    T::try_from(number).map_err(|_| "too large".to_owned())
}

/// Parses a size in bytes, such as `4G`, `512M` or `1.5GiB`; units are powers of 1024.
pub fn bytes(text: &str) -> Result<u64, String> {
    let upper = text.trim().to_uppercase();
    let digits = upper.trim_end_matches("IB").trim_end_matches('B');
    let unit =
        ["", "K", "M", "G", "T"].into_iter().enumerate().rev().find(|(_, unit)| digits.ends_with(unit));
    let (power, unit) = unit.unwrap_or_default();
    let number = digits.strip_suffix(unit).and_then(|number| number.trim_end().parse::<f64>().ok());
    let bytes = number.map(|number| number * 1024f64.powi(power as i32));
    let valid = bytes.filter(|bytes| (1.0..1e19).contains(bytes)).map(|bytes| bytes as u64);
    valid.ok_or_else(|| "expected a size, such as 4G, 512M or 1.5GiB".to_owned())
}

/// Parses a whole number in a range.
pub fn whole_in<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number: u64 = whole(text)?;
        let (least, most) = (range.start(), range.end());
        match T::try_from(number) {
            Ok(number_of_type) if range.contains(&number) => Ok(number_of_type),
            _ if number < *least => Err(format!("must be at least {least}")),
            _ => Err(format!("must be at most {most}")),
        }
    }
}

/// Parses a number in a range.
pub fn number_in(
    range: RangeInclusive<f32>,
) -> impl Fn(&str) -> Result<f32, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("must be between {} and {}", range.start(), range.end()))
    }
}

/// Limit for repeats and warm-ups; more would take days.
pub const MAX_REPEATS: u64 = 1_000_000;

/// Parses a number from 1 to `u32::MAX`.
pub fn at_least_one<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    whole_in(1..=u32::MAX.into())(text)
}

/// Parses engines with a given function and completes this program's engines in shells.
#[derive(Clone, Copy)]
pub struct EngineParser<T>(fn(&str) -> Result<T, String>);

/// Parses an engine with its parameters.
pub fn engine() -> EngineParser<EngineChoice> {
    EngineParser(str::parse)
}

/// Parses a list of engines. Parameters may have alternatives: `cuda:window=8|16,kdtree` is three methods.
pub fn engines() -> EngineParser<Vec<EngineChoice>> {
    EngineParser(EngineChoice::list)
}

/// Accepts any text, as the engine may belong to another program.
pub fn engine_of_any_program() -> EngineParser<String> {
    EngineParser(|text| Ok(text.to_owned()))
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for EngineParser<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        let text = value.to_str().ok_or_else(|| "not valid UTF-8".to_owned());
        text.and_then(self.0).map_err(|why| invalid(command, argument, value, &why))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let auto = PossibleValue::new("auto").help("The available engine that is predicted to be fastest");
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
pub fn ranking_of(given: Option<Ranking>, cloud: &PointCloud) -> anyhow::Result<Ranking> {
    let axes = cloud.axes();
    let known = declared_ranking(cloud.source(), given);
    match known {
        Some(Ranking::InnerProduct) if given.is_none() => {
            bail!(
                "the data declares the inner product as its metric, which only `knn` supports; pass --metric \
                 l2 to use distances"
            )
        }
        Some(Ranking::Distance(metric)) if metric.is_on_sphere() => note_assumed(axes),
        _ => {}
    }
    Ok(known.unwrap_or_else(|| Ranking::Distance(default_metric(axes))))
}

/// Notes which column is taken as longitude if the names do not decide it.
pub fn note_assumed(axes: &[Axis]) {
    if let Some(note) = GlobeAxes::from_axes(axes).ok().and_then(|globe| globe.note(axes)) {
        output::note(&format!("{note}; override with --columns"));
    }
}

/// The metric if none was given: haversine for longitude and latitude, sky for positions in the sky, else
/// l2. A note says so.
fn default_metric(axes: &[Axis]) -> Metric {
    if GlobeAxes::recognise(axes).is_some() {
        let (metric, what, unit) = if GlobeAxes::is_sky(axes) {
            (Metric::Sky, "positions in the sky", "degrees")
        } else {
            (Metric::Haversine, "longitude and latitude", "km")
        };
        output::note_choice(
            &format!(
                "{what}: using metric {metric}, in {unit}; --metric l2 treats degrees as plane coordinates"
            ),
            true,
        );
        return metric;
    }
    if let Some(why) = GlobeAxes::not_degrees(axes) {
        output::note_choice(&format!("{why}: using metric l2, columns as plane coordinates"), true);
    }
    Metric::L2
}

/// The ranking that a file declares, if the user `given` none. A note says so.
pub fn declared_ranking(source: &Source, given: Option<Ranking>) -> Option<Ranking> {
    let (Source::File { path, .. }, None) = (source, given) else { return given };
    let declared = DeclaredMetric::read(path)?;
    if let Some(sentence) = declared.sentence() {
        output::note(&format!("{sentence}: {}", path.display()));
    }
    Some(declared.ranking.unwrap_or(Ranking::Distance(Metric::L2)))
}

/// Parses the name of a metric.
pub fn metrics() -> impl TypedValueParser<Value = Ranking> {
    RankingParser { products: false }
}

/// Parses the name of a metric or of the inner product.
pub fn rankings() -> impl TypedValueParser<Value = Ranking> {
    RankingParser { products: true }
}

#[derive(Clone, Copy)]
struct RankingParser {
    /// Whether the inner product is accepted.
    products: bool,
}

impl RankingParser {
    fn offered(self) -> Vec<PossibleValue> {
        let about = |metric| match metric {
            Metric::L2 => "Euclidean distance (squared distances are compared)",
            Metric::Angular => "Angle between rows as vectors",
            Metric::Cosine => "1 − cos of that angle; same neighbours as angular",
            Metric::Sky => {
                "Angle on the celestial sphere in degrees, from two columns such as right ascension and \
                 declination"
            }
            Metric::Haversine => {
                "Distance on the globe in km, from longitude and latitude in degrees; resolution about 0.5 m"
            }
        };
        let metrics = Metric::ALL.map(|metric| PossibleValue::new(metric.name()).help(about(metric)));
        let product = PossibleValue::new(INNER_PRODUCT)
            .alias("ip")
            .help("Inner product of rows, largest first (not a distance)");
        metrics.into_iter().chain(self.products.then_some(product)).collect()
    }

    /// The ranking of a name, or why it is refused; `None` for an unknown name.
    fn ranking(self, name: &str) -> Option<Result<Ranking, String>> {
        if let Some(metric) = Metric::named(name) {
            return Some(Ok(Ranking::Distance(metric)));
        }
        Some(match Ranking::from_alias(name) {
            Some(Ranking::InnerProduct) if self.products && ["ip", INNER_PRODUCT].contains(&name) => {
                Ok(Ranking::InnerProduct)
            }
            Some(Ranking::InnerProduct) if !self.products => {
                Err("the inner product is not a distance; only `warpscope knn IN --metric inner-product` \
                     supports it"
                    .to_owned())
            }
            Some(here) => Err(format!("use {}", here.name())),
            None if !Ranking::is_unsupported(name) => return None,
            None => {
                let names: Vec<String> =
                    self.offered().iter().map(|value| value.get_name().to_owned()).collect();
                Err(format!("not supported; available: {}", names.join(", ")))
            }
        })
    }
}

impl TypedValueParser for RankingParser {
    type Value = Ranking;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Ranking, clap::Error> {
        match value.to_str().and_then(|name| self.ranking(name)) {
            Some(known) => known.map_err(|why| invalid(command, argument, value, &why)),
            // clap's own message, with a similar name if there is one; clap never accepts an unknown name.
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
    fn whole_numbers_accept_exponents_and_separators() {
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
        assert_eq!(whole::<u32>("5e9"), Err("too large".to_owned()));
        assert_eq!(whole::<usize>("few").unwrap_err(), "expected a whole number, such as 1000 or 1e6");
    }

    #[test]
    fn sizes_have_binary_units() {
        let sizes = [
            ("4G", 4 << 30),
            ("512M", 512 << 20),
            ("1.5GiB", 3 << 29),
            ("2 kb", 2048),
            ("1e9", 1_000_000_000),
        ];
        for (text, size) in sizes {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for text in ["", "G", "-1G", "0", "4X", "nan", "1e30T", "inf"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_outside_their_range_are_rejected() {
        let size = number_in(0.1..=100.0);
        assert_eq!((size("0.1"), size("1e2")), (Ok(0.1), Ok(100.0)));
        for text in ["0", "-1", "1e30", "nan", "inf", "", "2px"] {
            assert_eq!(size(text), Err("must be between 0.1 and 100".to_owned()), "{text}");
        }
    }

    #[test]
    fn range_errors_name_the_violated_bound() {
        let few = whole_in::<u32>(1..=1024);
        assert_eq!(
            (few("1e3"), few("0"), few("1025")),
            (Ok(1000), Err("must be at least 1".to_owned()), Err("must be at most 1024".to_owned()))
        );
        assert_eq!(at_least_one::<u32>("5e9"), Err("must be at most 4294967295".to_owned()));
    }

    #[test]
    fn metric_aliases_are_recognized() {
        let known = |name: &str| RankingParser { products: true }.ranking(name);
        assert_eq!(
            (known("ip"), known("inner-product")),
            (Some(Ok(Ranking::InnerProduct)), Some(Ok(Ranking::InnerProduct)))
        );
        assert_eq!(known("L2"), Some(Err("use l2".to_owned())));
        let not_offered = known("manhattan").expect("it is known").expect_err("it is not offered");
        assert!(not_offered.starts_with("not supported; available: l2, "), "{not_offered}");
        assert!(
            RankingParser { products: false }
                .ranking("dot")
                .is_some_and(|dot| dot.is_err_and(|why| why.contains("--metric inner-product")))
        );
        assert_eq!((known("haversin"), known("cosine")), (None, Some(Ok(Ranking::Distance(Metric::Cosine)))));
    }
}
