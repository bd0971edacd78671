//! What engines are predicted to take, for `--dry-run`.

use super::output;
use crate::export::text;
use crate::run::planner::Plan;

/// The version of what `--dry-run --json` prints.
const SCHEMA_VERSION: u32 = 1;

/// Prints the predictions as a table, and below it what the total is of; or as JSON.
///
/// # Errors
/// That no engine can answer, with the reason; those of printing.
pub fn print(plan: &Plan, total: &str, json: bool) -> anyhow::Result<()> {
    if json {
        output::print_json(&output::versioned(SCHEMA_VERSION, plan))?
    } else {
        output::print(&table(plan, total))?
    }
    anyhow::ensure!(plan.chosen.is_some(), "{}", plan.reason);
    Ok(())
}

fn table(plan: &Plan, total: &str) -> String {
    let time = |ms: Option<f64>| ms.map_or_else(String::new, text::time);
    let mut rows = vec![["engine", "setup", "search", "total", ""].map(str::to_owned).to_vec()];
    for engine in &plan.engines {
        // What another machine's engine would take says nothing about this one.
        let here = engine.why_not.is_none();
        let forecast = engine.forecast.filter(|_| here);
        let setup = if engine.resident { Some(0.0) } else { forecast.map(|forecast| forecast.setup_ms) };
        let remark = match &engine.why_not {
            Some(why) => why.clone(),
            None if plan.chosen == Some(engine.engine) => format!("taken: {}", plan.reason),
            None => String::new(),
        };
        rows.push(vec![
            engine.engine.to_string(),
            time(setup),
            time(forecast.map(|forecast| forecast.search_ms)),
            time(engine.total_ms.filter(|_| here)),
            remark,
        ]);
    }
    format!("{}\nTotal: {total}.\n", text::table(&rows, &[1, 2, 3]))
}
