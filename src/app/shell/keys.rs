//! Keys that are pressed, as commands.

use egui::{Key, Modifiers};

use crate::app::model::{Actions, Command, Mode};

/// Sends the commands of a mode whose keys were pressed. Once per frame, outside all menus. The keys of those that `allows`
/// refuses are left to whoever else wants them: where nothing is to be cancelled, Escape closes menus and dialogs.
pub fn shortcuts(ctx: &egui::Context, mode: Mode, allows: impl Fn(Command) -> bool, actions: &mut Actions) {
    // In the explorer a mark or a row that has the focus leaves letters to the commands; the lesson's questions take them.
    let typing = if mode == Mode::Lesson { ctx.egui_wants_keyboard_input() } else { ctx.text_edit_focused() };
    // To egui, keys without Shift are pressed with Shift too: those that ask for it are asked first.
    let shifted = Command::all().iter().copied().filter(|command| command.shortcut().is_some_and(|shortcut| shortcut.modifiers.shift));
    let others = Command::all().iter().copied().filter(|command| command.shortcut().is_some_and(|shortcut| !shortcut.modifiers.shift));
    for command in shifted.chain(others) {
        let Some(shortcut) = command.shortcut().filter(|_| command.mode().is_in(mode)) else { continue };
        if (typing && command.is_typed()) || !allows(command) {
            continue;
        }
        if ctx.input_mut(|input| input.consume_shortcut(&shortcut) || also(command, input)) {
            actions.send(command);
        }
    }
}

/// Other keys for the same.
fn also(command: Command, input: &mut egui::InputState) -> bool {
    match command {
        // Larger is ⌘= or ⌘+, and a keyboard may need Shift for either; ? always needs it.
        Command::ScaleUp => input.consume_key(Modifiers::COMMAND, Key::Plus),
        // The finder also finds rows, which is what Find means elsewhere.
        Command::Find => input.consume_key(Modifiers::COMMAND, Key::F),
        Command::Redo => input.consume_key(Modifiers::COMMAND, Key::Y),
        Command::Shortcuts => input.consume_key(Modifiers::SHIFT, Key::Questionmark),
        // A presenter's remote control has these.
        Command::StepForward => input.consume_key(Modifiers::NONE, Key::PageDown),
        Command::StepBack => input.consume_key(Modifiers::NONE, Key::PageUp),
        _ => false,
    }
}
