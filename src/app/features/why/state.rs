//! Why a row is, or is not, among the neighbours: the typed row and the explanation.

use crate::app::features::row_names::state::RowNames;
use crate::app::model::answer::QueryAnswer;
use crate::app::model::answer_summary::distance_text;
use crate::cloud::PointCloud;
use crate::run::analysis::RowRank;
use crate::text;

/// Number of axes whose share of the distance is listed.
const AXES: usize = 3;

#[derive(Clone, Debug, Default)]
pub struct WhyState {
    /// The row's record number or name, as typed.
    pub typed: String,
    pub explanation: Option<Explanation>,
}

/// An explanation, and the answer that it belongs to.
#[derive(Clone, Debug)]
pub struct Explanation {
    pub answered: QueryAnswer,
    /// The explanation, or an error.
    pub sentences: Result<Vec<String>, String>,
}

/// The typed row, by its number in the file or, if names are known, by its name.
///
/// # Errors
/// A sentence if the cloud has no such row.
pub fn row_of(typed: &str, cloud: &PointCloud, names: Option<&RowNames>) -> Result<u32, String> {
    let shown = typed.trim();
    let Ok(record) = shown.replace(',', "").parse::<u64>() else {
        let no_number = || Err(format!("“{shown}” is not a row number such as 12."));
        return names.map_or_else(no_number, |names| names.row_of(shown));
    };
    let last = cloud.record(cloud.len() - 1);
    cloud.row_of_record(record).map(|row| row as u32).ok_or_else(|| match record < last {
        true => format!("Row {} was dropped when the file was read.", text::thousands(record)),
        false => {
            format!("There is no row {}; the last row is {}.", text::thousands(record), text::thousands(last))
        }
    })
}

pub fn sentences(standing: &RowRank, answered: &QueryAnswer) -> Vec<String> {
    let (record, cloud) = (&answered.record, &answered.record.cloud);
    let metric = record.spec.metric;
    let name = format!("Row {}", text::thousands(cloud.record(standing.row as usize)));
    let own = record.query_cloud.is_none().then(|| answered.row());
    if own == Some(standing.row) {
        return vec![format!("{name} is the query itself.")];
    }
    // The query's own row does not count as a neighbour, though it may be one of the k found.
    let others: Vec<(u32, f32)> = answered.neighbors().filter(|&(row, _)| Some(row) != own).collect();
    let k = if own.is_some() && !record.spec.exclude_self { record.spec.k - 1 } else { record.spec.k };
    let distance = metric.distance(standing.squared_distance);
    let at = distance_text(metric, distance);
    let place = text::ordinal(standing.rank as u64 + 1);
    let mut said = Vec::new();
    match others.last() {
        _ if others.iter().any(|&(row, _)| row == standing.row) => {
            said.push(format!("{name} is a neighbour: it ranks {place}, at {at}."))
        }
        None => said.push(format!("{name} ranks {place}, at {at}.")),
        Some(&(_, last)) => {
            let last = metric.distance(last);
            let farther = distance_text(metric, distance - last);
            let how = if distance > last {
                format!("{farther} farther than the {}", text::ordinal(others.len() as u64))
            } else {
                format!("as far as the {}, but later in the file", text::ordinal(others.len() as u64))
            };
            said.push(format!("{name} ranks {place}, at {at}: {how}."));
        }
    }
    if let Some(back) = standing.reverse_rank.filter(|_| k > 0) {
        let mutual = if standing.is_mutual(k) == Some(true) {
            "they are mutual neighbours"
        } else {
            "they are not mutual neighbours"
        };
        let back = text::ordinal(back as u64 + 1);
        said.push(format!("In reverse, the query ranks {back}: {mutual} at k = {k}."));
    }
    if let Some(bound) = standing.bound {
        let met = format!(
            "The search visited it as point {} of {}",
            text::thousands(u64::from(standing.position) + 1),
            text::thousands(cloud.len() as u64)
        );
        let then = match () {
            () if bound.is_infinite() => "before there was a bound, so it became a candidate".to_owned(),
            () if standing.squared_distance < bound => {
                format!(
                    "when the bound was {}, so it became a candidate",
                    distance_text(metric, metric.distance(bound))
                )
            }
            () => format!(
                "when the bound was already {}, so it was rejected",
                distance_text(metric, metric.distance(bound))
            ),
        };
        said.push(format!("{met}, {then}."));
    }
    if !standing.shares.is_empty() && cloud.dims() > 1 {
        let share = |&(axis, share): &(usize, f64)| {
            format!("{} {} %", cloud.axes()[axis].name, text::digits(share * 100.0, 2))
        };
        let shares: Vec<String> = standing.shares.iter().take(AXES).map(share).collect();
        said.push(format!("Of the squared distance: {}.", shares.join(", ")));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::record;

    #[test]
    fn rows_are_identified_by_file_row_number() {
        let cloud = &record().cloud;
        assert_eq!(row_of(" 3 ", cloud, None), Ok(3));
        assert_eq!(row_of("three", cloud, None).unwrap_err(), "“three” is not a row number such as 12.");
        assert!(
            row_of("4,000,000,000", cloud, None)
                .unwrap_err()
                .starts_with("There is no row 4,000,000,000; the last row is ")
        );
    }

    #[test]
    fn explanations_depend_on_the_rank() {
        let answered = QueryAnswer { query: 0, record: record() };
        let (k, own) = (answered.record.spec.k, answered.row());
        let others = answered.neighbors().filter(|&(row, _)| row != own).collect::<Vec<_>>();
        let stranger = (0..)
            .find(|row| *row != own && others.iter().all(|&(other, _)| other != *row))
            .expect("a row that is far");
        let shares = vec![(1, 0.75), (0, 0.25)];
        let far = RowRank {
            row: stranger,
            squared_distance: 1e6,
            rank: k + 20,
            reverse_rank: Some(2),
            position: 9,
            bound: Some(4.0),
            shares,
        };
        let said = sentences(&far, &answered).join(" ");
        let last = text::ordinal(others.len() as u64);
        assert!(
            said.contains(&format!("ranks {}, at 1,000: ", text::ordinal(k as u64 + 21)))
                && said.contains(&format!("than the {last}")),
            "{said}"
        );
        assert!(
            said.contains("not mutual neighbours") && said.contains("already 2") && said.contains("rejected"),
            "{said}"
        );
        // The last row listed, and the first that is not.
        let (row, squared_distance) = others[others.len() - 1];
        let listed = RowRank {
            row,
            squared_distance,
            rank: others.len() - 1,
            reverse_rank: None,
            bound: Some(f32::INFINITY),
            ..far.clone()
        };
        let said = sentences(&listed, &answered);
        assert!(
            said[0].contains(&format!("is a neighbour: it ranks {last}"))
                && said[1].contains("became a candidate"),
            "{said:?}"
        );
        let next = RowRank { row: stranger, rank: others.len(), ..listed };
        assert!(!sentences(&next, &answered)[0].contains("is a neighbour"));
        let itself = RowRank { row: own, ..far };
        assert_eq!(
            sentences(&itself, &answered),
            [format!(
                "Row {} is the query itself.",
                text::thousands(answered.record.cloud.record(own as usize))
            )]
        );
    }
}
