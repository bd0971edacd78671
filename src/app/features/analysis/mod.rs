//! Searches the neighbours of every row once, and works out of them all that they say.
//!
//! | part | does |
//! |---|---|
//! | `state` | which analyses there are, what they gave, what another file says |
//! | `apply` | starts them, takes in what they gave, writes the graph |
//! | `neighbours` | the neighbours of all rows, searched or taken from a run |
//! | `against` | the rows held against another file |

pub mod against;
pub mod apply;
pub mod neighbours;
pub mod state;

use std::path::PathBuf;

use crate::app::features::analysis::neighbours::{Failure, Question};
use crate::app::features::analysis::state::{Analysed, AnalysisKind, AnalysisView};
use crate::app::features::color::request::column_title;
use crate::app::model::Session;
use crate::cloud::formats;
use crate::progress::Progress;
use crate::run::Resident;
use crate::run::graph::labels::{self, Classified, Labels};
use crate::run::graph::summary::{self, Components, Duplicates, Hubs, Lid, Scores};
use crate::run::graph::{Analysis, KnnGraph, groups, scores};
use crate::text;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    pub question: Question,
    pub labels: Option<LabelColumn>,
    /// Within which distance rows are near-duplicates, in the metric's unit.
    pub eps: f64,
}

/// A column of the cloud's file.
#[derive(Clone, Debug)]
pub struct LabelColumn {
    pub path: PathBuf,
    /// By name or by number.
    pub key: String,
    /// As people know it.
    pub title: String,
}

/// The key and the title of the column that labels rows: the one chosen in the pane where the file has it, else the file's label.
pub fn label_column(view: &AnalysisView, session: &Session) -> Option<(String, String)> {
    let chosen = match &view.labels {
        Some(key) if key.is_empty() => return None,
        Some(key) => column_title(session, key).map(|title| (key.clone(), title)),
        None => None,
    };
    let told = || session.roles.label.column().map(|column| (column.key.clone(), column.name.clone()));
    chosen.or_else(told)
}

/// Works it all out; `None` where it was cancelled.
///
/// # Errors
/// Why the neighbours could not be found, as a sentence. A column that labels no rows is said in place of its analysis.
pub fn work(asked: &Asked, resident: &Resident, progress: &dyn Progress) -> Result<Option<Analysed>, String> {
    match analysed(asked, resident, progress) {
        Ok(analysed) => Ok(Some(analysed)),
        Err(Failure::Cancelled) => Ok(None),
        Err(Failure::Said(why)) => Err(why),
    }
}

fn analysed(asked: &Asked, resident: &Resident, progress: &dyn Progress) -> Result<Analysed, Failure> {
    let Asked { question, labels, eps } = asked;
    let cloud = &question.cloud;
    // Before the search, which may take long.
    let column = labels.as_ref().map(|of| question.cloud.check_file(formats::column(&of.path, &of.key, progress)).map_err(|why| why.to_string()));
    let record = question.answer(resident, progress)?;
    let graph = KnnGraph::of_run(&record).map_err(|why| Failure::Said(why.to_string()))?;
    let mut all = Analysis {
        density: Some(scores::k_distances(&graph, progress)?),
        lof: Some(scores::outlier_factors(&graph, progress)?),
        occurrences: Some(scores::occurrences(&graph, progress)?),
        lid: Some(scores::dimensions(&graph, progress)?),
        duplicates: Some(groups::duplicates(&graph, *eps, progress)?),
        components: Some(groups::components(&graph, progress)?),
        ..Analysis::default()
    };
    let mut unlabelled = None;
    if let Some(column) = column {
        match column.and_then(|column| Labels::of_column(&column, cloud, &graph).map_err(|why| why.to_string())) {
            Ok(labels) => {
                let votes = labels::votes(&graph, &labels, progress)?;
                all.labels = Some((labels, votes));
            }
            Err(why) => unlabelled = Some(why),
        }
    }
    let classified = all.labels.as_ref().map(|(labels, votes)| Classified::of(labels, votes));
    let labels = labels.as_ref().map(|of| of.title.clone());
    let said = said(asked, &graph, &all, (labels.as_deref(), classified.as_ref(), unlabelled));
    drop(graph);
    Ok(Analysed { record, all, labels, classified, said })
}

/// A sentence for each analysis.
fn said(
    asked: &Asked,
    graph: &KnnGraph<'_>,
    all: &Analysis,
    (labels, classified, unlabelled): (Option<&str>, Option<&Classified>, Option<String>),
) -> Vec<(AnalysisKind, Result<String, String>)> {
    let (cloud, metric) = (&asked.question.cloud, asked.question.spec.metric);
    let unit = metric.unit().map_or_else(String::new, |unit| format!(" {unit}"));
    let scores = |values: &Vec<f64>| Scores::of(graph, cloud, values).sentence();
    let of = |kind: AnalysisKind| {
        Some(Ok(match kind {
            AnalysisKind::Density => {
                let nth = text::ordinal(graph.k().min(graph.len() - 1) as u64);
                format!("{} to the {nth} neighbour: {}", metric.heading(), scores(all.density.as_ref()?))
            }
            AnalysisKind::Outliers => scores(all.lof.as_ref()?),
            AnalysisKind::Hubness => Hubs::of(graph, cloud, all.occurrences.as_ref()?)?.sentence(),
            AnalysisKind::Dimension => Lid::of(all.lid.as_ref()?).sentence(),
            AnalysisKind::Labels => match (labels, classified, &unlabelled) {
                (Some(column), Some(classified), _) => summary::labels(column, classified),
                (Some(column), None, Some(why)) => return Some(Err(format!("column {column}: {why}"))),
                _ => return None,
            },
            AnalysisKind::Duplicates => Duplicates::of(all.duplicates.as_ref()?, asked.eps).sentence(&unit),
            AnalysisKind::Components => Components::of(all.components.as_ref()?).sentence(),
            AnalysisKind::Overlap | AnalysisKind::Leaks => return None,
        }))
    };
    AnalysisKind::ALL.iter().filter_map(|&kind| Some((kind, of(kind)?))).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::cloud::{ColumnChoice, Source};
    use crate::progress::Silent;
    use crate::run::{QuerySpec, RunSpec};

    /// Two clusters on a line with a label each, one row of the first labelled as the second, and a row twice.
    fn asked(folder: &tempfile::TempDir, labels: &str) -> Asked {
        let path = folder.path().join("a.csv");
        let rows = "x,kind\n0,a\n1,a\n2,a\n3.5,b\n100,b\n101,b\n102,b\n102,b\n";
        std::fs::write(&path, rows).expect("a file");
        let source = Source::File { path: path.clone(), columns: ColumnChoice::Named(vec!["x".to_owned()]) };
        let cloud = Arc::new(crate::cloud::load(&source, false, &Silent).expect("a cloud"));
        let spec = RunSpec { exclude_self: true, ..RunSpec::new(source, QuerySpec::All, 3) };
        let labels = Some(LabelColumn { path, key: labels.to_owned(), title: labels.to_owned() });
        Asked { question: Question { cloud, spec }, labels, eps: 0.0 }
    }

    #[test]
    fn everything_is_worked_out_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let analysed = work(&asked(&folder, "kind"), &Resident::default(), &Silent).expect("no failure").expect("not cancelled");
        let own: Vec<AnalysisKind> = AnalysisKind::ALL.iter().copied().filter(|kind| !kind.is_of_two()).collect();
        assert_eq!(analysed.said.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), own);
        let said = |kind| analysed.said.iter().find(|(of, _)| *of == kind).and_then(|(_, said)| said.as_ref().ok()).expect("worked out");
        assert!(said(AnalysisKind::Components).starts_with("2 components"), "{}", said(AnalysisKind::Components));
        assert!(said(AnalysisKind::Duplicates).starts_with("1 group of rows at distance 0, 2 rows"));
        assert!(said(AnalysisKind::Labels).contains("leave-one-out accuracy 87.50 % (7 of 8)"), "{}", said(AnalysisKind::Labels));
        assert_eq!((analysed.disagreeing(None), analysed.disagreeing(Some((1, 0))), analysed.disagreeing(Some((0, 1)))), (vec![3], vec![3], vec![]));
        for kind in own {
            assert_eq!(analysed.values(kind).expect("worked out").len(), 8, "{kind:?}");
        }
        let sizes = analysed.values(AnalysisKind::Duplicates).expect("groups");
        assert!(sizes[..6].iter().all(|size| size.is_nan()) && sizes[6..] == [2.0, 2.0]);
    }

    #[test]
    fn a_column_that_labels_nothing_is_said_and_the_rest_is_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let analysed = work(&asked(&folder, "colour"), &Resident::default(), &Silent).expect("no failure").expect("not cancelled");
        let (_, said) = analysed.said.iter().find(|(kind, _)| *kind == AnalysisKind::Labels).expect("said");
        assert!(said.as_ref().is_err_and(|why| why.contains("colour")), "{said:?}");
        assert!(analysed.values(AnalysisKind::Labels).is_none() && analysed.values(AnalysisKind::Outliers).is_some());
    }

    #[test]
    fn it_can_be_cancelled() {
        let folder = tempfile::tempdir().expect("a folder");
        let asked = Asked { labels: None, ..asked(&folder, "kind") };
        assert!(work(&asked, &Resident::default(), &AtomicBool::new(true)).expect("no failure").is_none());
    }
}
