//! Files that end with a footer, its length and a magic number: Parquet and Arrow. Mutates the footer or the
//! data before it, and updates the length.

use super::{Raw, u32_at};

pub fn damage(
    data: &[u8],
    first: &[u8],
    last: &[u8],
    most: usize,
    choice: u32,
    raw: &mut Raw<'_>,
) -> Option<Vec<u8>> {
    let end = data.strip_suffix(last).filter(|_| data.starts_with(first))?.len().checked_sub(4)?;
    let start = end.checked_sub(u32_at(data, end)? as usize).filter(|&start| start >= first.len())?;
    let (mut body, mut footer) = (data[first.len()..start].to_vec(), data[start..end].to_vec());
    if choice.is_multiple_of(3) && !body.is_empty() {
        // In place, because the footer contains offsets.
        let size = body.len();
        raw(&mut body, size);
        body.resize(size, 0);
    } else {
        raw(&mut footer, most.saturating_sub(first.len() + body.len() + 4 + last.len()).max(1));
    }
    Some([first, &body, &footer, &(footer.len() as u32).to_le_bytes(), last].concat())
}
