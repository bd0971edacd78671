//! How the filter's kernels are cut to size.

/// How the filter's kernels are cut to size for a number of dimensions: `FilterCut` of `cuda/filtered/filter.cu`.
pub(super) struct Cut {
    pub name: &'static str,
    pub tile: usize,
    pub threads: u32,
    pub padded_d: usize,
    pub shared_bytes: u32,
}

impl Cut {
    /// Queries stay in shared memory up to this many dimensions.
    const RESIDENT: usize = 128;

    pub fn new(numbers: &[u32], d: usize) -> Option<Self> {
        let &[tile, threads, ref forms @ ..] = numbers else { return None };
        let (name, form) = match d {
            ..=16 => ("filter_16_resident", 0),
            17..=32 => ("filter_32_resident", 1),
            33..=Self::RESIDENT => ("filter_64_resident", 2),
            _ => ("filter_64_streaming", 3),
        };
        let &[slab, fixed, a_slab] = forms.get(3 * form..3 * form + 3)? else { return None };
        let slabs = d.div_ceil(slab as usize);
        Some(Self { name, tile: tile as usize, threads, padded_d: slabs * slab as usize, shared_bytes: fixed + a_slab * slabs as u32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_pad_dimensions_to_whole_slabs() {
        let numbers = [128, 256, 16, 1000, 10, 32, 2000, 20, 64, 2500, 30, 64, 3000, 0];
        let cut = |d| Cut::new(&numbers, d).map(|cut| (cut.name, cut.padded_d, cut.shared_bytes)).unwrap();
        assert_eq!(cut(4), ("filter_16_resident", 16, 1010));
        assert_eq!(cut(17), ("filter_32_resident", 32, 2020));
        assert_eq!(cut(65), ("filter_64_resident", 128, 2560));
        assert_eq!(cut(129), ("filter_64_streaming", 192, 3000));
        assert!(Cut::new(&numbers[..5], 20).is_none());
    }
}
