//! E57: pages of 1,020 bytes with a CRC-32C each. Mutates the XML description or the points inside the pages.

use super::{Raw, put, u64_at};

const PAGE: usize = 1020;
const SUM: usize = 4;

pub fn damage(data: &[u8], most: usize, choice: u32, raw: &mut Raw<'_>) -> Option<Vec<u8>> {
    if !data.starts_with(b"ASTM-E57") || data.len() < PAGE + SUM {
        return None;
    }
    let mut content: Vec<u8> =
        data.chunks(PAGE + SUM).flat_map(|page| &page[..page.len().min(PAGE)]).copied().collect();
    let physical = usize::try_from(u64_at(data, 24)?).ok()?;
    let start = physical.checked_sub(physical / (PAGE + SUM) * SUM)?;
    let length = usize::try_from(u64_at(data, 32)?).ok()?;
    let end = start.checked_add(length).filter(|&end| end <= content.len() && start >= 48)?;
    let mut length = length;
    match choice % 4 {
        // The description comes last, so it may grow.
        0 | 1 => {
            let mut xml = content[start..end].to_vec();
            raw(&mut xml, most.saturating_sub(start + 2 * PAGE).max(1));
            length = xml.len();
            content.truncate(start);
            content.extend(xml);
        }
        2 => {
            let mut points = content[48..start].to_vec();
            let size = points.len();
            raw(&mut points, size.max(1));
            points.resize(size, 0);
            put(&mut content, 48, &points);
        }
        _ => {
            let mut head = content[8..48].to_vec();
            raw(&mut head, 40);
            head.resize(40, 0);
            put(&mut content, 8, &head);
        }
    }
    content.resize(content.len().next_multiple_of(PAGE), 0);
    if choice % 4 != 3 {
        let size = content.len() / PAGE * (PAGE + SUM);
        put(&mut content, 16, &(size as u64).to_le_bytes());
        put(&mut content, 32, &(length as u64).to_le_bytes());
    }
    Some(content.chunks(PAGE).flat_map(|page| [page, &checksum(page).to_be_bytes()].concat()).collect())
}

/// CRC-32C.
fn checksum(page: &[u8]) -> u32 {
    !page.iter().fold(u32::MAX, |sum, &byte| {
        (0..8).fold(
            sum ^ u32::from(byte),
            |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 },
        )
    })
}
