//! Opens the window and runs its frames.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use egui::Modifiers;

use crate::app::context::adapter::{DISPLAYS, check_memory};
use crate::app::context::app::App;
use crate::app::context::settings;
use crate::app::features::walk::state::WalkState;
use crate::app::gpu;
use crate::app::look::focus::{pass_by, ring_ui};
use crate::app::look::tokens;
use crate::app::model::Mode;
use crate::app::prelude::*;

/// The application id for desktops, and the name of its folders.
const APP: &str = "warpscope";

/// Default size, in points: with a title bar it fits a screen of 1280 × 800.
const SIZE: [u32; 2] = [1240, 740];

/// Opens the window with an optional file or lesson; returns when it is closed. `on_start` receives a
/// function that asks the window to close and returns whether there is one.
///
/// # Errors
/// If there is no display or no graphics adapter, in one sentence.
pub fn run(
    file: Option<PathBuf>,
    lesson: Option<u32>,
    on_start: impl FnOnce(Box<dyn Fn() -> bool + Send>),
) -> anyhow::Result<()> {
    let viewport = egui::ViewportBuilder::default()
        .with_title("Warpscope")
        .with_app_id(APP)
        .with_icon(icon())
        .with_inner_size(SIZE.map(|pixels| pixels as f32))
        .with_min_inner_size([720.0, 480.0]);
    #[cfg(all(unix, not(target_os = "macos")))]
    if DISPLAYS.iter().all(|name| std::env::var_os(name).is_none_or(|value| value.is_empty())) {
        anyhow::bail!(
            "cannot open a window: no display (neither DISPLAY nor WAYLAND_DISPLAY is set); use `warpscope \
             gui --png FILE` to render the window to a PNG"
        );
    }
    check_memory(SIZE)?;
    let mut options = eframe::NativeOptions { viewport, persist_window: true, ..Default::default() };
    // Enables GPU timestamps if available; the frame budget adapts to them.
    if let eframe::egui_wgpu::WgpuSetup::CreateNew(setup) = &mut options.wgpu_options.wgpu_setup {
        setup.device_descriptor = Arc::new(gpu::device_descriptor);
    }
    // Before eframe reads its own file, which may have to be set aside.
    let startup = eframe::storage_dir(APP).map(|folder| settings::begin(&folder));
    let start = startup.as_ref().map(|startup| Arc::clone(&startup.start));
    let window = Arc::new(OnceLock::<egui::Context>::new());
    let leaves = Arc::new(AtomicBool::new(false));
    on_start({
        let (window, start, leaves) = (Arc::clone(&window), start.clone(), Arc::clone(&leaves));
        Box::new(move || {
            // Stopping the program during start-up does not count as a failed start.
            start.iter().for_each(|start| start.over());
            // There may be no user to answer a question.
            leaves.store(true, Ordering::Relaxed);
            window.get().map(close).is_some()
        })
    });
    let closed = eframe::run_native(
        APP,
        options,
        Box::new(move |cc| {
            let mut app = App::begin(cc, file, startup)?;
            app.leaves = leaves;
            _ = window.set(cc.egui_ctx.clone());
            if let Some(number) = lesson {
                app.send(crate::app::features::lesson::state::LessonAction::Open(number));
            }
            Ok(Box::new(app))
        }),
    );
    // A missing display is reported, and does not count as a failed start.
    if let Some(start) = start {
        start.over();
    }
    closed.map_err(|error| anyhow::anyhow!("cannot open a window: {}", why_closed(&error)))
}

fn close(ctx: &egui::Context) {
    ctx.send_viewport_cmd(egui::ViewportCommand::Close);
    ctx.request_repaint();
}

fn why_closed(error: &eframe::Error) -> String {
    match error {
        // The message starts with a position in the library's source.
        eframe::Error::WinitEventLoop(why) => {
            let why = why.to_string();
            let set = |name: &&str| {
                Some(format!(
                    "{name}={}",
                    std::env::var_os(name).filter(|value| !value.is_empty())?.display()
                ))
            };
            let displays = DISPLAYS.iter().filter_map(set).collect::<Vec<_>>().join(", ");
            format!(
                "{} ({displays}); `warpscope gui --png FILE` renders the window to a PNG",
                why.rsplit(": ").next().unwrap_or(&why)
            )
        }
        why => format!("{why}; without a graphics driver, install mesa-vulkan-drivers"),
    }
}

fn icon() -> egui::IconData {
    match image::load_from_memory(include_bytes!("../../../assets/icon.png")) {
        Ok(icon) => {
            let icon = icon.into_rgba8();
            let (width, height) = icon.dimensions();
            egui::IconData { rgba: icon.into_raw(), width, height }
        }
        Err(_) => egui::IconData::default(),
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &egui::Context, _frame: &mut eframe::Frame) {
        let look = self.look();
        if look.is_lost(ctx) {
            look.apply(ctx);
        }
        let system = self.handles.system_motion.is_reduced();
        if system != self.session.system_reduces_motion {
            self.session.system_reduces_motion = system;
            tokens::reduce_motion(ctx, self.state.reduces_motion(system));
        }
        self.poll();
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        if let Some(gpu) = &self.handles.gpu {
            gpu.pace().begin_frame();
        }
        let lesson = &self.session.lesson;
        let mode = if lesson.open {
            crate::app::model::commands::command::Mode::Lesson
        } else {
            crate::app::model::commands::command::Mode::Explorer
        };
        // A dialog captures all keys; the finder closes with its own.
        let (dialog, finder) = (self.session.has_dialog(), self.session.finder.is_some());
        if let Some(quiz) = lesson.quiz.as_ref().filter(|_| lesson.open && !dialog) {
            crate::app::features::lesson::ask::keys(ui.ctx(), quiz, &mut self.actions);
        }
        // While the query is dragged, Escape restores it.
        let busy = self.session.activity.is_busy() && !self.session.live.is_held();
        let marked = lesson
            .player
            .as_ref()
            .is_some_and(crate::app::features::lesson::state::player::Player::has_marks);
        let presents =
            lesson.presenting != crate::app::features::lesson::state::session::PresentationMode::No;
        let of_lesson = lesson.open && (marked || presents || lesson.zoom.is_some() || lesson.quiz.is_some());
        let cancels = (busy || self.state.maximised || of_lesson) && !lesson.drag.held;
        // Escape closes these windows, and menus, first.
        let cancels = cancels && !self.session.help && !self.session.about && self.session.manual.is_none();
        let cancels = cancels && !egui::Popup::is_any_open(ui.ctx());
        let allows = |command| match command {
            Command::Find => finder || !dialog,
            Command::Cancel => cancels && !dialog,
            // Space also presses the focused button.
            Command::PlayWalk => {
                !dialog
                    && matches!(self.session.walked, WalkState::Ready(_))
                    && ui.memory(|memory| memory.focused()).is_none()
            }
            _ => !dialog,
        };
        let mut commands = Actions::default();
        shortcuts(ui.ctx(), mode, allows, &mut commands);
        self.close_with_escape(ui.ctx());
        let dropped: Vec<PathBuf> =
            ui.input(|input| input.raw.dropped_files.iter().map(|file| file.path().to_owned()).collect());
        if !dropped.is_empty() {
            self.actions.send(Action::OpenPaths(dropped));
        }
        pass_by(ui.ctx());
        self.window_ui(ui);
        ring_ui(ui.ctx(), Palette::for_look(self.look(), ui.visuals()));
        // After the fields: in slow frames, typing a number and the key that runs it arrive together.
        for action in self.actions.take().into_iter().chain(commands.take()) {
            self.apply(action);
            // The effect of an action is visible in the next frame.
            ui.ctx().request_repaint();
        }
        self.watch_history();
        // A failure to open a file named by the user is not the fault of saved settings.
        self.start.drawn(self.is_named || self.has_begun());
        self.gives_up = ui.ctx().text_edit_focused() || ui.ctx().dragged_id().is_some();
    }

    /// eframe saves window position and panel widths in a file that it does not write atomically.
    fn save(&mut self, _storage: &mut dyn eframe::Storage) {
        self.save_settings();
    }

    fn on_exit(&mut self) {
        self.start.over();
    }
}

// Keyboard shortcuts.

/// Sends the commands of a mode whose keys were pressed; called once per frame, outside menus. Keys of
/// commands that `allows` refuses are not consumed: with nothing to cancel, Escape closes menus and dialogs.
pub fn shortcuts(ctx: &egui::Context, mode: Mode, allows: impl Fn(Command) -> bool, actions: &mut Actions) {
    // In the explorer only text fields capture letters; in the lesson any focused widget does, because
    // questions take keys.
    let typing = if mode == Mode::Lesson { ctx.egui_wants_keyboard_input() } else { ctx.text_edit_focused() };
    // egui matches keys without Shift even if Shift is pressed, so shortcuts with Shift are checked first.
    let shifted = Command::all()
        .iter()
        .copied()
        .filter(|command| command.shortcut().is_some_and(|shortcut| shortcut.modifiers.shift));
    let others = Command::all()
        .iter()
        .copied()
        .filter(|command| command.shortcut().is_some_and(|shortcut| !shortcut.modifiers.shift));
    for command in shifted.chain(others) {
        let Some(shortcut) = command.shortcut().filter(|_| command.mode().is_in(mode)) else { continue };
        if (typing && command.is_typed()) || !allows(command) {
            continue;
        }
        if ctx.input_mut(|input| input.consume_shortcut(&shortcut) || has_alternative_key(command, input)) {
            actions.send(command);
        }
    }
}

/// Alternative keys.
fn has_alternative_key(command: Command, input: &mut egui::InputState) -> bool {
    match command {
        // "Larger" is ⌘= or ⌘+, and some keyboards need Shift for either; ? always needs it.
        Command::ScaleUp => input.consume_key(Modifiers::COMMAND, Key::Plus),
        // The finder also finds rows, which Ctrl+F suggests.
        Command::Find => input.consume_key(Modifiers::COMMAND, Key::F),
        Command::Redo => input.consume_key(Modifiers::COMMAND, Key::Y),
        Command::Shortcuts => input.consume_key(Modifiers::SHIFT, Key::Questionmark),
        // Keys of presentation remotes.
        Command::StepForward => input.consume_key(Modifiers::NONE, Key::PageDown),
        Command::StepBack => input.consume_key(Modifiers::NONE, Key::PageUp),
        _ => false,
    }
}
