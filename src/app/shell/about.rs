//! What the program is and what it runs on, as a report of a fault needs it.

use crate::app::context::app::App;
use crate::version;

impl App {
    /// Names and values, in the order in which they are shown.
    pub(in crate::app) fn about(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![
            ("Warpscope", version::version()),
            ("Licence", "MIT or Apache-2.0, at your choice".to_owned()),
            ("System", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
        ];
        let gpus = self.session.engines.iter().filter(|status| status.is_gpu());
        let mut said: Vec<String> = Vec::new();
        for status in gpus {
            let gpu = match &status.device {
                None => "being looked for".to_owned(),
                Some(Err(_)) => format!("none: {}", status.why_not().unwrap_or_default()),
                Some(Ok(device)) => {
                    let driver = device.details.iter().filter(|(name, _)| name.contains("driver") || name.contains("compute capability"));
                    let details: Vec<String> = driver.map(|(name, value)| format!("{name} {value}")).collect();
                    if details.is_empty() { device.name.clone() } else { format!("{}, {}", device.name, details.join(", ")) }
                }
            };
            if !said.contains(&gpu) {
                said.push(gpu);
            }
        }
        facts.extend(said.into_iter().map(|gpu| ("Searching GPU", gpu)));
        let adapter = self.handles.render_state.as_ref().map(|render_state| render_state.adapter.get_info());
        let adapter = adapter.map_or_else(
            || "none".to_owned(),
            |info| {
                let driver: Vec<&str> = [info.driver.as_str(), info.driver_info.as_str()].into_iter().filter(|part| !part.is_empty()).collect();
                let driver = if driver.is_empty() { String::new() } else { format!(", {}", driver.join(" ")) };
                format!("{} ({}{driver})", info.name, info.backend)
            },
        );
        facts.push(("Drawn by", adapter));
        let folder = self.kept.as_ref().map_or_else(|| "not kept".to_owned(), |kept| kept.folder().display().to_string());
        facts.push(("Settings", folder));
        facts
    }

    /// The same as lines, to be pasted.
    pub(in crate::app) fn copy_about(&mut self) {
        let lines: Vec<String> = self.about().into_iter().map(|(name, value)| format!("{name}: {value}")).collect();
        self.handles.ctx.copy_text(lines.join("\n"));
        self.session.log.info("copied: what Warpscope is and runs on");
    }
}
