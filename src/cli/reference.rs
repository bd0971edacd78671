//! The answers in a file that `warpscope verify --reference` names: right or wrong, and how many true neighbours they hold.

use super::answers::Answers;
use super::bar::Bar;
use super::queries;
use crate::cloud::{Axis, Coordinates, PointCloud};
use crate::export::text;
use crate::knn::{Metric, Neighbors, Problem};
use crate::run::RunSpec;
use crate::run::answers::recall::{self, RecallAt, Truth};
use crate::run::answers::{AnswersVerdict, check};

/// What was found of the answers in a file.
#[derive(serde::Serialize)]
pub struct Reference {
    path: String,
    #[serde(flatten)]
    pub verdict: AnswersVerdict,
    /// Against the answer of an engine that is right; absent where none is.
    recall: Option<RecallAt>,
}

impl Reference {
    /// Judges what was read; `right` are the true neighbours, in positions.
    ///
    /// # Errors
    /// Where there is nothing to compare.
    pub fn of(
        answers: &Answers,
        problem: &Problem,
        metric: Metric,
        [cloud, queries]: [&PointCloud; 2],
        right: Option<&Neighbors>,
    ) -> anyhow::Result<Self> {
        let path = answers.path.display().to_string();
        let verdict = check(problem, metric, cloud, queries, &answers.table, &Bar::new("checking the reference answers"));
        let verdict = verdict.map_err(|why| anyhow::anyhow!("{why}: {path}"))?;
        let recall = right.map(|right| recall_of(problem, [cloud, queries], &answers.table, right)).transpose();
        Ok(Self { verdict, recall: recall.map_err(|why| anyhow::anyhow!("{why}: {path}"))?.flatten(), path })
    }

    /// # Errors
    /// The first wrong answer, in words that say what to do about it.
    pub fn conclude(&self, spec: &RunSpec, axes: &[Axis]) -> anyhow::Result<()> {
        let Self { path, verdict: verdict @ AnswersVerdict { queries, wrong, mismatch, .. }, recall } = self;
        let Some(why) = mismatch else { return Ok(()) };
        let mean = recall.as_ref().map(|at| at.spread.mean);
        if verdict.seem_to_others(mean) {
            let of = format!("{} of {}", text::thousands(*wrong), text::count(*queries, "query", "queries"));
            let asked = queries::about(spec, axes);
            anyhow::bail!(
                "wrong reference answers: {of}, so that they seem to be answers to other queries than {asked}, or of another cloud or metric; \
                 ask as they were asked, with --queries, --seed, --input and --metric (the first: {why}): {path}"
            )
        }
        anyhow::bail!("wrong reference answers: {why}: {path}")
    }

    pub fn text(&self) -> String {
        let Self { path, verdict: AnswersVerdict { queries, wrong, ties, .. }, recall } = self;
        let ties = text::count(*ties, "other index", "other indices");
        let of = text::count(*queries, "query", "queries");
        if *wrong == 0 {
            return format!("reference answers agree with the oracle: {of}, {ties} at a tie: {path}\n");
        }
        let Some(RecallAt { k, spread, perfect, .. }) = recall else {
            return format!("reference answers WRONG: {} of {of}: {path}\n", text::thousands(*wrong));
        };
        let imperfect = queries - perfect;
        let mut parts = Vec::new();
        if imperfect > 0 {
            let verb = if imperfect == 1 { "has" } else { "have" };
            parts.push(format!(
                "{} of {of} {verb} a neighbour that is not among the true {}",
                text::thousands(imperfect),
                text::thousands(*k as u64)
            ));
        }
        match wrong.saturating_sub(imperfect) {
            0 => {}
            ordered if imperfect == 0 => parts.push(format!("{} of {of} in a wrong order", text::thousands(ordered))),
            ordered => parts.push(format!("{} more in a wrong order", text::thousands(ordered))),
        }
        if wrong < queries {
            parts.push(format!("in the others, {ties} at a tie"));
        }
        let mean = text::rounded_part(spread.mean, 1.0, 4);
        format!("reference answers WRONG: recall@{k} {mean}: {}: {path}\n", parts.join("; "))
    }
}

/// Recall at k of a table of answers.
fn recall_of(
    problem: &Problem,
    [cloud, queries]: [&PointCloud; 2],
    table: &Coordinates,
    right: &Neighbors,
) -> Result<Option<RecallAt>, recall::RecallError> {
    let found = problem.report(right);
    let bar = Bar::new("counting true neighbours");
    let recall = recall::of_problem(problem, cloud, queries, table, Truth::Found(&found), &[problem.reported_k()], &bar)?;
    Ok(recall.summary().first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::stats::Spread;

    #[test]
    fn answers_are_counted_with_what_is_right_among_them() {
        let text = |wrong, recalls: Option<&[f64]>| {
            let recall = recalls.map(|recalls| RecallAt {
                k: 10,
                spread: Spread::of(recalls.iter().copied()).unwrap(),
                perfect: recalls.iter().filter(|&&recall| recall == 1.0).count() as u64,
                untold: 0,
            });
            Reference { path: "a.csv".to_owned(), verdict: AnswersVerdict { queries: 4, wrong, ties: 1, mismatch: None }, recall }.text()
        };
        assert_eq!(text(0, Some(&[1.0; 4])), "reference answers agree with the oracle: 4 queries, 1 other index at a tie: a.csv\n");
        assert_eq!(text(3, None), "reference answers WRONG: 3 of 4 queries: a.csv\n");
        let wrong = |wrong, recalls: [f64; 4]| text(wrong, Some(&recalls)).replace("reference answers WRONG: ", "").replace(": a.csv\n", "");
        assert_eq!(
            wrong(2, [0.9, 1.0, 1.0, 0.6]),
            "recall@10 0.8750: 2 of 4 queries have a neighbour that is not among the true 10; in the others, 1 other index at a tie"
        );
        assert_eq!(wrong(4, [0.9; 4]), "recall@10 0.9000: 4 of 4 queries have a neighbour that is not among the true 10");
        assert_eq!(
            wrong(3, [0.9, 1.0, 1.0, 1.0]),
            "recall@10 0.9750: 1 of 4 queries has a neighbour that is not among the true 10; 2 more in a wrong order; in the others, 1 other index at a tie"
        );
        assert_eq!(wrong(2, [1.0; 4]), "recall@10 1.0000: 2 of 4 queries in a wrong order; in the others, 1 other index at a tie");
    }
}
