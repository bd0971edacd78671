//! `--skip-lines`: where the table of a text begins.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::cloud::formats;

#[derive(Clone, Debug, Args)]
pub struct SkipArgs {
    /// Passes over the first lines of a text, which are none of its table; written FILE:skip-lines=NUMBER for other files
    #[arg(long, value_name = "NUMBER", default_value_t = 0, hide_default_value = true, allow_negative_numbers = true, help_heading = "Cloud")]
    skip_lines: u64,
}

impl SkipArgs {
    /// The path by which a file is read without those lines.
    pub fn of(&self, path: &Path) -> PathBuf {
        if self.skip_lines == 0 { path.to_owned() } else { formats::path_without_lines(path, self.skip_lines) }
    }
}
