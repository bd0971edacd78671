//! LZF, h5py's own compression: runs of bytes as they are, and copies of what went before.

use hdf5_reader::error::Error;

/// The filter's number in the list of the HDF Group.
pub(super) const ID: u16 = 32000;

/// No chunk is larger, whatever a file says.
const LARGEST: usize = hdf5_reader::DEFAULT_MAX_CHUNK_BYTES;

/// Unpacks a chunk of `size` bytes; 0 where the file does not say how many.
pub(super) fn unpack(packed: &[u8], size: usize) -> Result<Vec<u8>, Error> {
    let damaged = || Error::InvalidData("LZF data is damaged".to_owned());
    let limit = if size == 0 { LARGEST } else { size.min(LARGEST) };
    let mut out = Vec::with_capacity(limit.min(packed.len().saturating_mul(4)));
    let mut bytes = packed.iter();
    while let Some(control) = bytes.next() {
        let control = usize::from(*control);
        if control < 32 {
            let rest = bytes.as_slice();
            out.extend_from_slice(rest.get(..=control).ok_or_else(damaged)?);
            bytes = rest[control + 1..].iter();
        } else {
            let mut next = || bytes.next().map(|&byte| usize::from(byte)).ok_or_else(damaged);
            let length = match control >> 5 {
                7 => 7 + next()?,
                length => length,
            } + 2;
            let back = ((control & 31) << 8 | next()?) + 1;
            let from = out.len().checked_sub(back).ok_or_else(damaged)?;
            // The copy may run into itself.
            for at in from..from + length {
                out.push(out[at]);
            }
        }
        if out.len() > limit {
            return Err(damaged());
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_copies() {
        // `abc`, then five bytes from three back, then eleven from one back.
        assert_eq!(unpack(&[2, b'a', b'b', b'c', 3 << 5, 2], 8).unwrap(), b"abcabcab");
        assert_eq!(unpack(&[0, b'x', 7 << 5, 2, 0], 0).unwrap(), [b'x'; 12]);
        for damaged in [&[2, b'a'][..], &[1 << 5, 0], &[7 << 5], &[0, b'x', 7 << 5, 255, 0]] {
            assert!(unpack(damaged, 8).is_err(), "{damaged:?}");
        }
    }
}
