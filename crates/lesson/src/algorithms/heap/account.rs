//! What threads with a query each count, beside one thread and the kernel's warp, as a table.

use std::io::{self, Write};

use crate::draw::svg::escaped;
use crate::lessons::Take;
use crate::meter::{self, Way};
use crate::paper::tables::compared;

/// What the query costs by one thread, by a thread of a warp, and by a warp.
pub(crate) fn table(take: &Take, out: &mut dyn Write) -> io::Result<()> {
    let Some(meter) = take.recording.meter() else { return Ok(()) };
    let of = |row: &meter::Row| (row.name, Way::ALL.map(|way| meter.number(row, way, &meter.all(way)).map(meter::words)).to_vec());
    compared(&Way::ALL.map(Way::name), &meter::ROWS.iter().map(of).collect::<Vec<_>>(), out)?;
    writeln!(out, "<dl class=\"weak\">")?;
    for row in &meter::ROWS {
        writeln!(out, "<dt>{}</dt><dd>{}</dd>", row.name, escaped(row.help))?;
    }
    writeln!(out, "</dl>")
}
