//! Default titles of pictures of panes.

use super::answer_summary::AnswerSummary;
use super::draft::Draft;
use super::files::file_name;
use super::pane::PaneKind;
use super::session::Session;
use super::state::State;
use crate::cloud::{PointCloud, Source};
use crate::knn::Measure;
use crate::run::{QuerySpec, RunRecord};
use crate::text;

/// The default title of a pane's picture; empty if there is nothing to say.
pub fn title_of(pane: PaneKind, state: &State, session: &Session) -> String {
    let record = session.compared_record().or(session.answered.as_ref().map(|answered| &answered.record));
    let of_run = |what: &str, record: &RunRecord| {
        format!("{what} — {}, k = {}, {}", record.engine, record.spec.k, source_name(&record.cloud))
    };
    match (pane, record) {
        (PaneKind::Plane | PaneKind::Space | PaneKind::Second | PaneKind::Neighbors, _) => {
            places(session).unwrap_or_default()
        }
        (PaneKind::Timings, _) => {
            let record = session.record.as_ref().or(record);
            record.map_or_else(String::new, |record| of_run("Search time of each repeat", record))
        }
        (PaneKind::Timeline, _) => {
            session.record.as_ref().map_or_else(String::new, |record| of_run("Timeline of the run", record))
        }
        (PaneKind::Merges, Some(record)) => {
            let names = || record.measured.columns().map(|(name, _)| name);
            let wanted = state.counts.measure.as_deref();
            let name = names().find(|&name| Some(name) == wanted).or_else(|| names().next());
            name.map_or_else(String::new, |name| {
                of_run(&format!("{} per query", text::sentence_case(&Measure::words(name))), record)
            })
        }
        (PaneKind::Convergence, Some(record)) => of_run("Convergence of max_distance", record),
        (PaneKind::Points, _) => session.cloud.as_ref().map_or_else(String::new, |cloud| {
            format!("{}, {}", text::count(cloud.len() as u64, "point", "points"), source_name(cloud))
        }),
        (PaneKind::Runs, _) => text::count(session.runs.runs().len() as u64, "run", "runs"),
        (PaneKind::Engines, _) => session
            .cloud
            .as_ref()
            .map_or_else(String::new, |cloud| format!("Engines compared — {}", source_name(cloud))),
        (PaneKind::Merges | PaneKind::Convergence | PaneKind::Analysis | PaneKind::Log, _) => String::new(),
    }
}

/// The query whose neighbours are shown, or else the number of points; then the data.
fn places(session: &Session) -> Option<String> {
    let cloud = session.cloud.as_ref()?;
    let points = || text::count(cloud.len() as u64, "point", "points");
    let summary = session
        .answered
        .as_ref()
        .map(|it| AnswerSummary::new(it, session.picked, session.listed_columns(), &session.roles));
    let what = summary.filter(|summary| summary.found > 0).map_or_else(points, |summary| {
        let whose = if summary.query_name == AnswerSummary::PLACE { "a place" } else { &summary.query_name };
        if summary.found == 1 {
            format!("Nearest to {whose}")
        } else {
            format!("{} nearest to {whose}", text::thousands(summary.found as u64))
        }
    });
    Some(format!("{what} — {}", source_name(cloud)))
}

/// A cloud's source, without folders.
pub fn source_name(cloud: &PointCloud) -> String {
    match cloud.source() {
        Source::File { path, .. } => file_name(path),
        Source::Generate { spec, .. } => spec.clone(),
        Source::Coordinates(at) => at.clone(),
    }
}

/// Which run is shown, if the fields of the left panel differ from it.
pub fn shown_run(record: &RunRecord, draft: &Draft) -> Option<String> {
    let spec = &record.spec;
    let is_same = draft.k.trim().parse() == Ok(spec.k)
        && (draft.metric, draft.exclude_self) == (spec.metric, spec.exclude_self)
        && draft.engine == spec.engine
        && draft.count().is_none_or(|count| spec.queries == QuerySpec::Count(count));
    let queries = text::count(record.summary.q, "query", "queries");
    (!is_same).then(|| {
        format!(
            "Run shown: {queries}, {}, k = {}, {}. The left panel differs.",
            record.engine, spec.k, spec.metric
        )
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::model::answer::{PickedPoint, QueryAnswer};
    use crate::app::testing::record;

    #[test]
    fn titles_name_the_content_and_the_data() {
        let record = record();
        let (spec, k) = (source_name(&record.cloud), record.spec.k);
        let mut session = Session { cloud: Some(Arc::clone(&record.cloud)), ..Session::default() };
        let state = State::default();
        let points = text::count(record.cloud.len() as u64, "point", "points");
        assert_eq!(title_of(PaneKind::Plane, &state, &session), format!("{points} — {spec}"));
        assert_eq!(title_of(PaneKind::Convergence, &state, &session), "");
        session.record = Some(Arc::clone(&record));
        let engine = record.engine;
        assert_eq!(
            title_of(PaneKind::Convergence, &state, &session),
            format!("Convergence of max_distance — {engine}, k = {k}, {spec}")
        );
        assert_eq!(
            title_of(PaneKind::Merges, &state, &session),
            format!("Merges per query — {engine}, k = {k}, {spec}")
        );
        let answered = QueryAnswer { record: Arc::clone(&record), query: 1 };
        (session.picked, session.answered) = (Some(PickedPoint::Row(answered.row())), Some(answered));
        let title = title_of(PaneKind::Space, &state, &session);
        assert!(title.contains(" nearest to row ") && title.ends_with(&format!(" — {spec}")), "{title}");
    }
}
