//! How rows are ranked, by a distance or by the inner product, and the names of both in other programs.

use super::Metric;

/// The name of the inner product, which is no [`Metric`].
pub const INNER_PRODUCT: &str = "inner-product";

/// A distance, where smaller is nearer, or the inner product.
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

    /// The distance, unless it is the inner product.
    pub fn metric(self) -> Option<Metric> {
        match self {
            Self::Distance(metric) => Some(metric),
            Self::InnerProduct => None,
        }
    }

    /// The unit of what is reported, if it has one.
    pub fn unit(self) -> Option<&'static str> {
        self.metric().and_then(Metric::unit)
    }

    /// The ranking that a name means, in whatever program it is used: `euclidean` is L2.
    pub fn by_any_name(name: &str) -> Option<Self> {
        let plain = plain(name);
        let ours = Metric::ALL.map(Metric::name).into_iter().chain([INNER_PRODUCT]).find(|ours| *ours == plain);
        let theirs = || OTHER_NAMES.iter().find(|(names, _)| names.split_whitespace().any(|name| name == plain)).map(|&(_, ours)| ours);
        ours.or_else(theirs).map(|ours| Metric::named(ours).map_or(Self::InnerProduct, Self::Distance))
    }

    /// Whether a name is that of a distance that other programs have, and this one has not.
    pub fn is_not_offered(name: &str) -> bool {
        let plain = plain(name);
        NOT_OFFERED.split_whitespace().any(|other| other == plain)
    }
}

/// Names in other programs, separated by spaces, and the name here.
const OTHER_NAMES: [(&str, &str); 6] = [
    ("euclidean euclid sqeuclidean squared-euclidean l2sq l2-squared", "l2"),
    ("cos cosine-similarity cosine-distance", "cosine"),
    ("angle arccos arccosine", "angular"),
    ("dot dot-product inner innerproduct ip mips max-inner-product", INNER_PRODUCT),
    ("great-circle greatcircle geo geodesic geodetic globe", "haversine"),
    ("celestial separation angular-separation radec ra-dec", "sky"),
];

/// Distances of other programs that are not offered.
const NOT_OFFERED: &str = "manhattan cityblock taxicab l1 chebyshev chebychev linf l-inf linfinity minkowski lp hamming jaccard dice canberra braycurtis \
    mahalanobis correlation pearson levenshtein edit";

/// A name without case and in one spelling.
fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace(['_', ' '], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_name_means_one_ranking() {
        let others = OTHER_NAMES.iter().map(|(names, _)| *names);
        let all: Vec<&str> = others.chain([NOT_OFFERED]).flat_map(str::split_whitespace).collect();
        for (at, name) in all.iter().enumerate() {
            assert!(!all[..at].contains(name) && Metric::named(name).is_none(), "{name}");
            assert_eq!(Ranking::by_any_name(name).is_none(), Ranking::is_not_offered(name), "{name}");
        }
        for (names, ours) in OTHER_NAMES {
            assert!(names.split_whitespace().all(|name| Ranking::by_any_name(name).is_some_and(|ranking| ranking.name() == ours)), "{ours}");
        }
        assert_eq!(Ranking::by_any_name(" Squared_Euclidean "), Some(Ranking::Distance(Metric::L2)));
        assert_eq!(Ranking::by_any_name("haversin"), None);
    }
}
