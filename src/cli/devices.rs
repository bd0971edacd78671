//! `warpscope devices`: lists what can run here.

use std::collections::HashSet;

use clap::builder::PossibleValuesParser;
use serde::Serialize;

use super::flags::JsonArgs;
use super::output;
use crate::engines::registry;
use crate::export::text;
use crate::knn::{Descriptor, DeviceId, DeviceInfo, EngineError, EngineId, Group};
use crate::run::EnginePool;

#[derive(Debug, clap::Args)]
pub struct DevicesArgs {
    /// Show only this engine, with its counters
    #[arg(
        value_name = "ENGINE",
        value_parser = PossibleValuesParser::new(registry::ENGINES.iter().map(|engine| engine.id.as_str()))
    )]
    engine: Option<String>,
    #[command(flatten)]
    json: JsonArgs,
}

/// The version of the layout of `--json`.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Report<'a> {
    schema_version: u32,
    /// Each engine on each device.
    engines: &'a [EngineAvailability],
}

/// An engine on a device.
#[derive(Serialize)]
struct EngineAvailability {
    engine: EngineId,
    group: Group,
    device_id: DeviceId,
    can_run: bool,
    /// The device, if the engine can run there.
    device: Option<DeviceInfo>,
    /// Why the engine cannot run there, and the remedy.
    why: Option<String>,
}

/// # Errors
/// When nothing can be printed.
pub fn run(args: &DevicesArgs) -> anyhow::Result<()> {
    let mut engines = EnginePool::default();
    let mut lines_of = |engine: &Descriptor| -> Vec<EngineAvailability> {
        let line = |device_id| {
            let (device, why) = match engines.named(engine.id, Some(device_id)) {
                Ok(engine) => (Some(engine.device()), None),
                Err(EngineError::Unavailable { why, .. }) => (None, Some(why)),
                Err(error) => (None, Some(error.to_string())),
            };
            EngineAvailability {
                engine: engine.id,
                group: engine.group,
                device_id,
                can_run: device.is_some(),
                device,
                why,
            }
        };
        registry::devices(engine).into_iter().map(line).collect()
    };
    let named = |engine: &Descriptor| args.engine.as_ref().is_none_or(|name| engine.id.as_str() == name);
    let engines: Vec<&'static Descriptor> =
        registry::grouped().flat_map(|(_, engines)| engines).filter(|engine| named(engine)).collect();
    let lines: Vec<EngineAvailability> = engines.iter().flat_map(|engine| lines_of(engine)).collect();
    if args.json.json {
        return output::print_json(&Report { schema_version: SCHEMA_VERSION, engines: &lines });
    }
    let counted = match (&args.engine, engines.as_slice()) {
        (Some(_), [engine]) => counted(engine),
        _ => "\nCounters of an engine: warpscope devices ENGINE\n".to_owned(),
    };
    output::print(&format!("{}{}{counted}", listed(&lines), parameters(&engines)))
}

/// Lists an engine's per-query counters.
fn counted(engine: &Descriptor) -> String {
    if engine.measures.is_empty() {
        return format!("\n{} has no counters.\n", engine.id);
    }
    let rows: Vec<Vec<String>> = engine
        .measures
        .iter()
        .map(|measure| vec![format!("  {}", measure.name), measure.help.to_owned()])
        .collect();
    format!("\nCounters of {}, per query\n{}", engine.id, text::table(&rows, &[]))
}

/// Lists the engines' parameters, as they are written in a method.
fn parameters(engines: &[&'static Descriptor]) -> String {
    let of = |engine: &&'static Descriptor| {
        let rows: Vec<Vec<String>> = engine
            .parameters
            .iter()
            .map(|parameter| {
                let default = format!("{} Default: {}.", parameter.help, parameter.default);
                vec![format!("  {}", parameter.name), parameter.values.to_string(), default]
            })
            .collect();
        (!rows.is_empty()).then(|| {
            format!(
                "\nParameters of {0}, as in --engine {0}:{1}=VALUE,…\n{2}",
                engine.id,
                engine.parameters[0].name,
                text::table(&rows, &[])
            )
        })
    };
    engines.iter().filter_map(of).collect()
}

/// Formats lines under their groups' titles. Details of a device appear once.
fn listed(lines: &[EngineAvailability]) -> String {
    let (mut said, mut reasons) = (HashSet::new(), HashSet::new());
    let (mut rows, mut groups) = (Vec::new(), Vec::new());
    for line in lines {
        let name = line.device.as_ref().map(|device| device.name.clone());
        let verb = if line.can_run { "runs on" } else { "cannot run on" };
        let why = || match &line.why {
            Some(why) if !reasons.insert((line.device_id, why.clone())) => Some("as above".to_owned()),
            why => why.clone(),
        };
        let what = name.or_else(why).unwrap_or_default();
        rows.push(vec![line.engine.to_string(), format!("{verb} {}", line.device_id), what]);
        let details = line.device.iter().flat_map(|device| &device.details);
        rows.extend(
            details
                .filter(|detail| said.insert((line.device_id, (*detail).clone())))
                .map(|(name, value)| vec![String::new(), format!("  {name}"), value.clone()]),
        );
        groups.resize(rows.len(), line.group);
    }
    let table = text::table(&rows, &[]);
    let mut text = String::new();
    for (at, (row, group)) in table.lines().zip(&groups).enumerate() {
        if at == 0 || groups[at - 1] != *group {
            text += &format!("{}{}\n", if at == 0 { "" } else { "\n" }, group.title());
        }
        text += &format!("{row}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_grouped_and_devices_described_once() {
        let device = |id| DeviceInfo {
            id: Some(id),
            name: format!("device {id}"),
            details: vec![("memory".to_owned(), "9 MiB".to_owned())],
        };
        let line = |engine: &str, group, device_id| EngineAvailability {
            engine: EngineId::new(engine),
            group,
            device_id,
            can_run: true,
            device: Some(device(device_id)),
            why: None,
        };
        let missing = EngineAvailability {
            can_run: false,
            device: None,
            why: Some("no driver".to_owned()),
            ..line("a", Group::Exhaustive, DeviceId::Gpu(1))
        };
        let lines = [
            line("a", Group::Exhaustive, DeviceId::Gpu(0)),
            missing,
            line("bb", Group::Cpu, DeviceId::Cpu),
            line("c", Group::Cpu, DeviceId::Cpu),
        ];
        let expected = "\
Exhaustive
a   runs on 0        device 0
      memory         9 MiB
a   cannot run on 1  no driver

CPU only
bb  runs on cpu      device cpu
      memory         9 MiB
c   runs on cpu      device cpu
";
        assert_eq!(
            listed(&lines).lines().map(str::trim_end).collect::<Vec<_>>(),
            expected.lines().collect::<Vec<_>>()
        );
    }
}
