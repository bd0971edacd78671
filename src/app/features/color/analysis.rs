//! Values of rows that their neighbours tell: density, outliers, hubs and the like.

use crate::app::features::analysis::state::{Against, Analysed, AnalysisKind};
use crate::app::features::color::column::{self, Values};
use crate::app::features::color::query::unit;
use crate::app::features::color::state::channel::{Channel, Numbers, Whose};
use crate::knn::Metric;
use crate::text;

/// What another file says of the rows.
pub fn of_two(against: &Against) -> Channel {
    let (title, unit) = match &against.leaks {
        Some(leaking) => (format!("distance to the nearest row of {}", against.other), unit(leaking.record.spec.metric)),
        None => (format!("share of neighbours in common with {}", against.other), ""),
    };
    let missing = against.values.iter().filter(|value| value.is_nan()).count() as u64;
    let values = against.values.iter().map(|&value| value as f32).collect();
    Channel::of_numbers(Whose::Data, title, unit, Numbers::new(values, 0.0, true), (missing, against.kind().without()))
}

/// The values of an analysis; `None` where it was not worked out.
pub fn channel(analysed: &Analysed, kind: AnalysisKind) -> Option<Channel> {
    let values = analysed.values(kind)?;
    let metric = analysed.record.spec.metric;
    let unit = if kind == AnalysisKind::Density { unit(metric) } else { "" };
    let title = match (kind, &analysed.labels) {
        (AnalysisKind::Labels, Some(column)) => format!("share of neighbours with the same {column}"),
        (AnalysisKind::Density, _) => format!(
            "{} to the {} neighbour",
            match metric {
                Metric::L2 | Metric::Haversine | Metric::Sky => "distance",
                Metric::Angular => "angle",
                Metric::Cosine => "cosine distance",
            },
            text::ordinal(analysed.record.spec.k as u64)
        ),
        (AnalysisKind::Duplicates, _) => "size of the group of duplicates".to_owned(),
        (AnalysisKind::Components, _) => "component".to_owned(),
        (kind, _) => kind.title().to_owned(),
    };
    if kind == AnalysisKind::Components {
        let channel = column::channel(&title, &Values::Numbers(values));
        return Some(Channel { why_missing: kind.without(), ..channel });
    }
    let missing = values.iter().filter(|value| value.is_nan()).count() as u64;
    let values = values.into_iter().map(|value| value as f32).collect();
    Some(Channel::of_numbers(Whose::Data, title, unit, Numbers::new(values, 0.0, true), (missing, kind.without())))
}
