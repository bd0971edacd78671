//! The window without a display: rendered to a PNG, for servers and for pictures in documents.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use eframe::egui_wgpu::wgpu;
use egui_kittest::Harness;

use super::App;
use super::state::State;
use super::tokens::Look;

/// How long the first answer may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// Whether there is a graphics adapter, a software one included.
///
/// # Errors
/// One sentence that says what to install.
pub fn check_adapter() -> anyhow::Result<()> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN | wgpu::Backends::GL));
    if adapters.is_empty() {
        bail!(
            "no graphics adapter: nothing can be drawn without a Vulkan or OpenGL driver; install one, for example mesa-vulkan-drivers, which needs no GPU"
        );
    }
    Ok(())
}

/// Opens the app on `file`, or on the generated cloud of the first start, waits until it is answered, and writes what the
/// window shows to `png`.
///
/// # Errors
/// When there is no graphics adapter, when the file cannot be read, or when the picture cannot be written.
pub fn render_headless(file: Option<&Path>, png: &Path, size: [u32; 2], look: Look) -> anyhow::Result<PathBuf> {
    check_adapter()?;
    let file = file.map(Path::to_owned);
    let asked = file.is_some();
    let mut harness = Harness::builder().with_size([size[0] as f32, size[1] as f32]).wgpu().build_eframe(move |cc| {
        let mut state = State { look, ..State::default() };
        if let Some(path) = file {
            state.draft.data = super::DataKind::File;
            state.draft.path = path.display().to_string();
        }
        let mut app = App::with_state(cc, state).expect("a thread for the worker");
        app.send(super::commands::Action::Load);
        app
    });
    let started = Instant::now();
    let mut asked_to_run = false;
    loop {
        harness.step();
        let app = harness.state();
        let session = app.session();
        if let Some(cloud) = session.cloud.as_ref().filter(|_| !asked_to_run) {
            let mut draft = app.state().draft.clone();
            draft.query_count = draft.query_count.parse().unwrap_or(1000).min(cloud.len()).to_string();
            let app = harness.state_mut();
            app.send(super::commands::Action::SetDraft(Box::new(draft)));
            app.send(super::commands::Command::Run);
            asked_to_run = true;
            continue;
        }
        let settled = session.record.is_some() && session.derived.is_some() && !app.is_busy();
        if settled && (session.theory.is_some() || session.answered.is_none()) {
            break;
        }
        if !app.is_busy()
            && session.record.is_none()
            && started.elapsed() > Duration::from_secs(1)
            && let Some(entry) = session.log.entries().iter().rev().find(|entry| entry.level == super::Level::Error)
        {
            bail!("{}", entry.text);
        }
        if started.elapsed() > PATIENCE {
            bail!("no answer within {} s{}", PATIENCE.as_secs(), if asked { "; use `warpscope run` for long jobs" } else { "" });
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    harness.run_steps(4);
    let picture = harness.render().map_err(|error| anyhow!("cannot draw the window: {error}"))?;
    let (width, height) = picture.dimensions();
    let picture = egui::ColorImage::from_rgba_unmultiplied([width as usize, height as usize], picture.as_raw());
    super::export::write_png(png, &picture, None).map_err(|error| anyhow!(error)).context("cannot write the picture")
}
