//! All rows within a distance of the picked query: the distance as it is typed.

use crate::knn::Metric;

#[derive(Clone, Debug, Default)]
pub struct Nearby {
    pub typed: String,
    /// What is wrong with it, once it was asked for.
    pub wrong: Option<String>,
}

impl Nearby {
    /// The distance in the metric's unit, which may stand behind it.
    ///
    /// # Errors
    /// A sentence where it is none.
    pub fn radius(&self, metric: Metric) -> Result<f64, String> {
        let typed = self.typed.trim();
        let number = metric.unit().and_then(|unit| typed.strip_suffix(unit)).unwrap_or(typed).trim();
        let radius = number.replace(',', "").parse().ok().filter(|radius: &f64| radius.is_finite() && *radius >= 0.0);
        let unit = metric.unit().map_or_else(String::new, |unit| format!(" {unit}"));
        radius.ok_or_else(|| format!("“{typed}” is not a distance such as 0.5{unit}."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_may_have_its_unit() {
        let radius = |typed: &str, metric| Nearby { typed: typed.to_owned(), wrong: None }.radius(metric);
        assert_eq!(
            (radius("5 km", Metric::Haversine), radius("1,500", Metric::Haversine), radius(" 0.25", Metric::L2)),
            (Ok(5.0), Ok(1500.0), Ok(0.25))
        );
        assert_eq!(radius("5 km", Metric::L2), Err("“5 km” is not a distance such as 0.5.".to_owned()));
        assert_eq!(radius("-1", Metric::Haversine), Err("“-1” is not a distance such as 0.5 km.".to_owned()));
        assert!(radius("", Metric::L2).is_err() && radius("inf", Metric::L2).is_err());
    }
}
