//! What was counted, beside the theory or other searches, as tables.

use std::io::{self, Write};

use super::named;
use crate::draw::svg::escaped;
use crate::lessons::Take;
use crate::picture::Film;
use crate::text::{count, significant, thousands};

/// The data of a take, and what searched them.
pub fn about(film: &Film, take: &Take, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let parameters = &take.recording.parameters;
    let shape = parameters.shape;
    let coordinates: Vec<String> = parameters.query.iter().take(8).map(|&value| significant(value.into())).collect();
    let more = if parameters.query.len() > 8 { ", …" } else { "" };
    let rows = [
        ("data", format!("{}, {}", parameters.data, count(shape.n.into(), "point", "points"))),
        ("query", format!("row {}, ({}{more})", thousands(parameters.query_row.into()), coordinates.join(", "))),
        ("neighbours", format!("k = {}", shape.k)),
        ("warp", format!("{} lanes, {} each: K = {}", shape.width, count(shape.registers.into(), "key", "keys"), parameters.capacity)),
        ("recorded on", parameters.what_ran()),
    ];
    writeln!(out, "{}<table>", named(film, take))?;
    for (what, value) in rows {
        writeln!(out, "<tr><th>{what}</th><td>{}</td></tr>", escaped(&value))?;
    }
    writeln!(out, "</table>")
}

/// A table of counts beside others; `None` where there is nothing to count.
pub(crate) fn compared(heads: &[&str], rows: &[(&str, Vec<Option<String>>)], out: &mut dyn Write) -> io::Result<()> {
    let heads: String = heads.iter().map(|head| format!("<th class=\"n\">{head}</th>")).collect();
    writeln!(out, "<table>\n<tr><th></th>{heads}</tr>")?;
    for (what, numbers) in rows {
        let numbers: String = numbers.iter().map(|number| format!("<td class=\"n\">{}</td>", number.as_deref().unwrap_or("\u{2013}"))).collect();
        writeln!(out, "<tr><th>{what}</th>{numbers}</tr>")?;
    }
    writeln!(out, "</table>")
}

/// What a take's search counted.
pub fn accounts(film: &Film, take: &Take, out: &mut dyn Write) -> io::Result<()> {
    take.recording.algorithm().table(film, take, out)
}
