//! `--threads`: how many threads the processor's work is shared among.

/// Flags of all commands that search.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ThreadsArgs {
    /// Threads of the processor that take part [default: as many as it has]
    #[arg(long, value_name = "NUMBER", value_parser = number, allow_negative_numbers = true, help_heading = "Search")]
    pub threads: Option<usize>,
}

/// More than any processor has is a slip.
const MOST: usize = 1024;

fn number(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| (1..=MOST).contains(number)).ok_or_else(|| format!("`{text}` is no number of threads, from 1 to {MOST}"))
}
