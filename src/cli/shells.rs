//! `warpscope completions` and `warpscope man`: what shells and `man` want to know of the command line.

use std::io::Write;
use std::path::PathBuf;

use clap_complete::Shell;
use clap_mangen::Man;

use super::output;
use crate::export;
use crate::text;

#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// For which shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Writes the pages of the program and of all commands into this folder, as warpscope.1, warpscope-run.1, …
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints the script by which a shell completes commands, flags and their values.
///
/// # Errors
/// When nothing can be printed.
pub fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "warpscope", &mut script);
    output::print_rows(&String::from_utf8(script)?)
}

/// Prints the page of the program, or writes those of all commands.
///
/// # Errors
/// When they cannot be printed or written.
pub fn man(args: &ManArgs) -> anyhow::Result<()> {
    let mut command = super::command();
    // Gives commands their names as pages have them.
    command.build();
    let page = |man: &Man| -> anyhow::Result<Vec<u8>> {
        let mut page = Vec::new();
        man.render(&mut page)?;
        Ok(page)
    };
    let Some(dir) = &args.dir else { return output::print_rows(&String::from_utf8(page(&Man::new(command))?)?) };
    std::fs::create_dir_all(dir).map_err(|why| anyhow::anyhow!("cannot write: {why}: {}", dir.display()))?;
    let commands: Vec<clap::Command> = command.get_subcommands().filter(|command| command.get_name() != "help").cloned().collect();
    let pages: Vec<Man> = std::iter::once(command).chain(commands).map(Man::new).collect();
    for man in &pages {
        let page = page(man)?;
        export::write(&dir.join(man.get_filename()), |out| out.write_all(&page))?;
    }
    output::print(&format!("wrote {} into {}\n", text::count(pages.len() as u64, "page", "pages"), dir.display()))
}
