//! Another program that is run to its end, or until this one is asked to stop.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};

use super::super::usage::Usage;
use super::super::{config, stop};

/// A program, and what it is called in errors.
pub struct Program {
    pub path: PathBuf,
    pub name: &'static str,
}

/// How often it is asked whether it has ended. It is no part of what is measured.
const POLL: Duration = Duration::from_millis(5);

/// How long a signal that ended the program may take to be heard here.
const ECHO: Duration = Duration::from_millis(200);

/// The exit code of wrong usage.
const WRONG_USAGE: i32 = 2;

impl Program {
    /// Runs it without its output, and with a file of defaults unless it is to find its own. A variable names the file: programs that do not know of
    /// such files go by it.
    ///
    /// # Errors
    /// The last line of its stderr, where it fails.
    pub fn run(&self, arguments: &[OsString], defaults: Option<&Path>) -> anyhow::Result<()> {
        let mut command = Command::new(&self.path);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.envs(defaults.map(|file| (config::VARIABLE, file)));
        let mut child = command.spawn().with_context(|| format!("cannot run {}", self.path.display()))?;
        let stderr = child.stderr.take();
        let reader = std::thread::Builder::new().name("stderr".to_owned()).spawn(move || stderr.map_or_else(String::new, last_line));
        let ended = wait(&mut child);
        let last = reader.ok().filter(|_| ended.is_ok()).and_then(|reader| reader.join().ok()).unwrap_or_default();
        let status = ended?;
        if status.success() {
            return Ok(());
        }
        if status.code() != Some(WRONG_USAGE) {
            std::thread::sleep(ECHO);
        }
        if stop::asked().is_some() {
            bail!("stopped");
        }
        let why = last.trim().trim_start_matches("error: ");
        let how = status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"));
        let why = if why.is_empty() { "it did not say why" } else { why };
        let sentence = format!("{} program failed ({how}): {why}: {}", self.name, self.path.display());
        Err(if status.code() == Some(WRONG_USAGE) { Usage(sentence).into() } else { anyhow!(sentence) })
    }
}

/// Until it has ended; ends it when this program is asked to stop.
fn wait(child: &mut Child) -> anyhow::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if stop::asked().is_some() {
            // What it leaves lies in our temporary folder.
            let _ = child.kill();
            let _ = child.wait();
            bail!("stopped");
        }
        std::thread::sleep(POLL);
    }
}

fn last_line(stderr: ChildStderr) -> String {
    let mut last = String::new();
    for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        if !line.trim().is_empty() {
            last = line.into_owned();
        }
    }
    last
}
