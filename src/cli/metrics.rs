//! Names of metrics: those that are offered, and what is known elsewhere by other names.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};

use super::input::{invalid, text_of};
use crate::knn::Metric;
use crate::nearest::nearest;

/// Takes the name of a metric, and lists the metrics in the help.
#[derive(Clone, Debug)]
pub struct MetricParser;

impl TypedValueParser for MetricParser {
    type Value = Metric;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<Metric, clap::Error> {
        let found = text_of(value).and_then(|name| Metric::named(name).ok_or_else(|| instead(name)));
        found.map_err(|why| invalid(command, argument, value, &why))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Metric::ALL.into_iter().map(|metric| PossibleValue::new(metric.name()).help(about(metric)))))
    }
}

fn about(metric: Metric) -> &'static str {
    match metric {
        Metric::L2 => "The straight distance; its square is what is compared",
        Metric::Angular => "The angle between rows as vectors",
        Metric::Haversine => "The distance on the globe in km, of two columns in degrees: longitude and latitude, told apart to about 0.4 m",
    }
}

/// Names of other programs, in small letters without what joins words, and what to do instead.
const ELSEWHERE: [(&[&str], &str); 8] = [
    (&["euclidean", "euclid", "sqeuclidean", "squaredeuclidean", "l2sq", "l2squared", "minkowski", "p2"], "that is l2 here"),
    (
        &["cosine", "cos", "cosinesimilarity", "cosinedistance"],
        "angular finds the same neighbours in the same order, by the angle whose cosine that is",
    ),
    (&["angle", "arccos", "arccosine"], "that is angular here"),
    (
        &["greatcircle", "geo", "geodesic", "geodistance", "sphere", "spherical", "orthodromic", "globe", "vincenty"],
        "haversine is the distance on the globe",
    ),
    (&["manhattan", "cityblock", "taxicab", "l1", "p1"], "the sum of absolute differences is not offered"),
    (&["chebyshev", "linf", "linfinity", "chessboard", "max"], "the largest difference is not offered"),
    (
        &["ip", "dot", "dotproduct", "innerproduct", "mips"],
        "the inner product is not offered; of rows of length 1 angular finds the same neighbours in the same order",
    ),
    (&["hamming", "jaccard", "canberra", "braycurtis", "correlation", "mahalanobis", "dice"], "it is not offered"),
];

/// What to do about a name that is none.
fn instead(name: &str) -> String {
    let word: String = name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    let all = Metric::ALL.map(Metric::name);
    let offered = format!("[possible values: {}]", all.join(", "));
    let meant = all.into_iter().find(|metric| *metric == word).or_else(|| nearest(&word, all));
    match ELSEWHERE.iter().find(|(names, _)| names.contains(&word.as_str())) {
        Some((_, what)) => format!("{what} {offered}"),
        None if let Some(meant) = meant => format!("did you mean {meant}? {offered}"),
        None => format!("there is no such metric {offered}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_elsewhere_points_to_ours() {
        for (name, what) in [
            ("euclidean", "that is l2 here ["),
            ("Cosine", "angular finds the same neighbours"),
            ("great-circle", "haversine is the distance on the globe ["),
            ("manhattan", "the sum of absolute differences is not offered ["),
            ("inner_product", "the inner product is not offered; "),
            ("L2", "did you mean l2? ["),
            ("angulr", "did you mean angular? ["),
            ("haversin", "did you mean haversine? ["),
            ("fast", "there is no such metric [possible values: l2, angular"),
        ] {
            assert!(instead(name).starts_with(what), "{name}: {}", instead(name));
        }
    }

    #[test]
    fn a_name_from_elsewhere_stands_once_and_is_none_of_ours() {
        let mut all: Vec<&str> = ELSEWHERE.iter().flat_map(|(names, _)| names.iter().copied()).chain(Metric::ALL.map(Metric::name)).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
