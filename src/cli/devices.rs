//! `warpscope devices`: what can run here.

use serde::Serialize;

use super::output;
use crate::engines::registry;
use crate::export::text;
use crate::knn::{DeviceInfo, EngineError, EngineId};
use crate::run::Engines;

/// `warpscope devices`
#[derive(Debug, clap::Args)]
pub struct DevicesArgs {
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Line {
    engine: EngineId,
    can_run: bool,
    /// On what, where it can.
    device: Option<DeviceInfo>,
    /// What is missing and how to get it, where it cannot.
    why: Option<String>,
}

/// Runs it.
///
/// # Errors
/// When nothing can be printed.
pub fn run(args: &DevicesArgs) -> anyhow::Result<()> {
    let mut engines = Engines::default();
    let lines = registry::ENGINES.iter().map(|engine| engine.id).map(|kind| match engines.named(kind, None) {
        Ok(engine) => Line { engine: kind, can_run: true, device: Some(engine.device()), why: None },
        Err(EngineError::Unavailable { why, .. }) => Line { engine: kind, can_run: false, device: None, why: Some(why) },
        Err(error) => Line { engine: kind, can_run: false, device: None, why: Some(error.to_string()) },
    });
    let lines: Vec<Line> = lines.collect();
    if args.json {
        return output::print_json(&lines);
    }
    let mut rows = Vec::new();
    for line in &lines {
        let runs_on = line.device.as_ref().map_or_else(|| line.why.clone().unwrap_or_default(), |device| device.name.clone());
        rows.push(vec![line.engine.to_string(), if line.can_run { "runs on" } else { "cannot run" }.to_owned(), runs_on]);
        for (name, value) in line.device.iter().flat_map(|device| &device.details) {
            rows.push(vec![String::new(), format!("  {name}"), value.clone()]);
        }
    }
    output::print(&text::table(&rows, &[]))
}
