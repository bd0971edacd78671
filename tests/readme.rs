//! Checks that README.md lists the engines of the registry.

use warpscope::engines::registry;
use warpscope::knn::{Descriptor, DeviceKind};

/// An engine's row in README's table.
fn row(engine: &Descriptor) -> String {
    let device = |kind: &DeviceKind| match kind {
        DeviceKind::Cpu => "CPU",
        DeviceKind::Gpu => "NVIDIA GPU",
    };
    let devices: Vec<&str> = engine.runs_on.iter().map(device).collect();
    let columns: Vec<String> = engine.measures.iter().map(|measure| format!("`{}`", measure.name)).collect();
    let parameters: Vec<String> =
        engine.parameters.iter().map(|parameter| format!("`{}`", parameter.name)).collect();
    let or_none = |list: &[String]| if list.is_empty() { "–".to_owned() } else { list.join(", ") };
    format!(
        "| `{}` | {} | {} | {} | {} |",
        engine.id,
        devices.join(", "),
        engine.about,
        or_none(&columns),
        or_none(&parameters)
    )
}

#[test]
fn the_table_of_engines_matches_the_registry() {
    let head = [
        "| engine | runs on | description | counts | parameters |".to_owned(),
        "|---|---|---|---|---|".to_owned(),
    ];
    let expected: Vec<String> =
        head.into_iter().chain(registry::ENGINES.iter().map(|engine| row(engine))).collect();
    let readme = include_str!("../README.md");
    assert!(
        readme.contains(&expected.join("\n")),
        "README.md should hold this table:\n\n{}\n",
        expected.join("\n")
    );
}
