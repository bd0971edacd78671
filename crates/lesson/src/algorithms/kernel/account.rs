//! What the kernel's search counts, beside the theory, as a table.

use std::io::{self, Write};

use crate::account::account;
use crate::cursor::Cursor;
use crate::lessons::Take;
use crate::paper::named;
use crate::picture::Film;
use crate::text::{count, significant, thousands};

/// What a take's search counted.
pub(crate) fn table(film: &Film, take: &Take, out: &mut dyn Write) -> io::Result<()> {
    let mut cursor = Cursor::new(take.recording.clone());
    cursor.seek(take.recording.len());
    let account = account(cursor.state());
    let (counts, expected) = (account.counts, account.expected_in_the_end);
    let rows = [
        ("points", counts.points_seen.into(), String::new()),
        ("groups with a candidate", counts.groups_hit.into(), String::new()),
        ("candidates", counts.candidates.into(), significant(expected.candidates)),
        ("merges", counts.merges.into(), significant(expected.merges)),
        ("compare-exchanges", counts.compare_exchanges, significant(expected.compare_exchanges)),
        ("shuffles", counts.shuffles, significant(expected.shuffles)),
    ];
    writeln!(out, "{}<table>\n<tr><th></th><th class=\"n\">counted</th><th class=\"n\">theory, mean at most</th></tr>", named(film, take))?;
    for (what, counted, expected) in rows {
        writeln!(out, "<tr><th>{what}</th><td class=\"n\">{}</td><td class=\"n\">{expected}</td></tr>", thousands(counted))?;
    }
    let worst = count(account.worst_merges, "merge", "merges");
    writeln!(
        out,
        "</table>\n<p>These are the numbers of the whole search. The theory's are for points in random order; the worst order takes {worst}.</p>"
    )
}
