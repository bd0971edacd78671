//! Whether there is a walk to be shown of the picked query's answer.

use crate::app::features::walk::state::WalkView;
use crate::app::look::any_of;
use crate::app::model::{Answered, Draft, Session};
use crate::engines::registry;
use crate::knn::Descriptor;
use crate::knn::walk::AXES;
use crate::run::RunSpec;

/// The answer whose walk is to be shown; `None` where none is.
///
/// # Errors
/// Why there is no walk, and what to do about it, as a sentence.
pub fn wanted(view: WalkView, session: &Session) -> Result<Option<Answered>, String> {
    let Some(scene) = session.scene().filter(|_| view.shown) else { return Ok(None) };
    let Some(answered) = &session.answered else {
        // A reply is on its way.
        return if session.live.is_waiting() { Ok(None) } else { Err("Click a point to walk through its search.".to_owned()) };
    };
    let record = &answered.record;
    let Some(engine) = record.descriptor().filter(|engine| engine.walk.is_some()) else {
        let looked = match record.descriptor() {
            Some(engine) if engine.is_exhaustive => "compared the query with every point, so there is no way to walk",
            _ => "does not record its way",
        };
        return Err(format!("{} {looked}. Choose the engine {} on the left, and press Run.", record.engine, any_of(&registry::with_walk())));
    };
    match scene.dims() {
        dims if dims > AXES => Err(format!("{} searched in {dims} dimensions: what it met can be drawn in two or three only.", engine.id)),
        _ if scene.is_projected() => Err("The search follows the axes of the cloud: show axes instead of a projection to see it.".to_owned()),
        _ => Ok(Some(answered.clone())),
    }
}

/// The fields by which an engine that has a walk answers the same question, and the words for it; `None` where nothing would do.
pub fn remedy(draft: &Draft, session: &Session) -> Option<(String, Draft)> {
    let record = &session.answered.as_ref()?.record;
    if session.scene()?.dims() > AXES {
        return None;
    }
    let walks = |engine: &&Descriptor| engine.walk.is_some();
    if record.descriptor().is_some_and(|engine| walks(&engine)) {
        return None;
    }
    let &RunSpec { k, metric, order, exclude_self, .. } = &record.spec;
    let mut fixed = Draft { k: k.to_string(), metric, order, exclude_self, ..draft.clone() };
    let engine = registry::grouped().flat_map(|(_, engines)| engines).find(walks)?;
    fixed.choose_engine(engine);
    Some((format!("Answer with {}", engine.id), fixed))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::testing::{cloud, record};
    use crate::knn::{EngineId, Metric};
    use crate::run::RunRecord;

    fn session(dims: usize, engine: &'static str, metric: Metric) -> Session {
        let mut run = RunRecord::clone(&record());
        run.cloud = cloud(50, dims, 1);
        run.head.engine = EngineId::new(engine);
        run.head.spec.metric = metric;
        let run = Arc::new(run);
        Session { cloud: Some(Arc::clone(&run.cloud)), answered: Some(Answered { record: run, query: 0 }), ..Session::default() }
    }

    #[test]
    fn what_cannot_be_walked_says_why() {
        let shown = WalkView { shown: true, at: None };
        let why = |session: &Session| wanted(shown, session).err().unwrap_or_default();
        assert_eq!(why(&session(2, "bvh", Metric::L2)), "");
        assert!(wanted(shown, &session(3, "bvh", Metric::L2)).expect("it can").is_some_and(|answered| answered.query == 0));
        assert_eq!(
            why(&session(2, "cuda", Metric::L2)),
            "cuda compared the query with every point, so there is no way to walk. Choose the engine bvh or step on the left, and press Run."
        );
        assert!(why(&session(2, "kdtree", Metric::L2)).starts_with("kdtree does not record its way."));
        // The question stays: its k and metric, whatever stands in the fields by now.
        let fields = Draft { k: "999".to_owned(), metric: Metric::Angular, ..Draft::default() };
        let fixed = |session: &Session| remedy(&fields, session).map(|(words, draft)| (words, draft.engine.to_string(), draft.metric, draft.k));
        for metric in Metric::ALL {
            let asked = session(2, "cuda", metric);
            let k = asked.answered.as_ref().expect("an answer").record.spec.k.to_string();
            assert_eq!(fixed(&asked), Some(("Answer with bvh".to_owned(), "bvh".to_owned(), metric, k)));
            assert!(wanted(shown, &session(2, "bvh", metric)).expect("it can").is_some(), "{metric}");
        }
        assert_eq!((fixed(&session(4, "cuda", Metric::L2)), fixed(&session(2, "bvh", Metric::Haversine))), (None, None));
        assert!(why(&session(4, "bvh", Metric::L2)).contains("in 4 dimensions"));
        let unanswered = Session { answered: None, ..session(2, "bvh", Metric::L2) };
        assert!(why(&unanswered).starts_with("Click a point"));
        assert!(wanted(WalkView::default(), &unanswered).is_ok_and(|walk| walk.is_none()), "nobody asked");
    }
}
