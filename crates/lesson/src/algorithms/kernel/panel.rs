//! The panels of a lesson about the kernel's search, and their layout.

use std::io::{self, Write};

use super::TheoryBaseline;
use crate::account::account;
use crate::algorithms::AlgorithmPictures;
use crate::cursor::Cursor;
use crate::lessons::Take;
use crate::picture::{self, Film, Scene, View};
use crate::print::{order_heading, write_comparison};
use crate::text::{count, significant, thousands};

impl AlgorithmPictures for TheoryBaseline {
    fn draw_account(&self, view: &View<'_>, size: [f32; 2]) -> Scene {
        picture::account::draw(view, size)
    }

    fn write_table(&self, film: &Film, take: &Take, out: &mut dyn Write) -> io::Result<()> {
        let mut cursor = Cursor::new(take.recording.clone());
        cursor.seek(take.recording.len());
        let account = account(cursor.state());
        let (counts, expected) = (account.counts, account.expected_at_end);
        let rows = [
            ("points", counts.points_seen.into(), String::new()),
            ("groups with a candidate", counts.groups_hit.into(), String::new()),
            ("candidates", counts.candidates.into(), significant(expected.candidates)),
            ("merges", counts.merges.into(), significant(expected.merges)),
            ("compare-exchanges", counts.compare_exchanges, significant(expected.compare_exchanges)),
            ("shuffles", counts.shuffles, significant(expected.shuffles)),
        ];
        let rows =
            rows.map(|(what, counted, expected)| (what, vec![Some(thousands(counted)), Some(expected)]));
        write!(out, "{}", order_heading(film, take))?;
        write_comparison(&["counted", "theory, mean at most"], &rows, out)?;
        let worst = count(account.worst_merges, "merge", "merges");
        writeln!(
            out,
            "<p>The numbers are of the whole search. The theory assumes random order; the worst order takes \
             {worst}.</p>"
        )
    }
}
