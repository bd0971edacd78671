//! Launch configuration of the filter kernels.

use super::interface::{FilterCut, filter_entry};

/// The form of the filter for a number of dimensions, and its launch parameters.
pub(super) struct Cut {
    pub name: String,
    pub padded_d: usize,
    pub shared_bytes: u32,
}

impl Cut {
    /// Up to this many dimensions, queries stay in shared memory.
    const RESIDENT: usize = 128;

    /// Picks the form from the module's `FILTER_CUT`.
    pub fn new(cut: &FilterCut, d: usize) -> Self {
        let (form, kind) = match d {
            ..=16 => (cut.forms[0], "resident"),
            17..=32 => (cut.forms[1], "resident"),
            33..=Self::RESIDENT => (cut.forms[2], "resident"),
            _ => (cut.forms[3], "streaming"),
        };
        let slabs = d.div_ceil(form.slab as usize);
        Self { name: filter_entry(form.slab, kind), padded_d: slabs * form.slab as usize, shared_bytes: form.fixed + form.a_slab * slabs as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::interface::FilterForm;
    use super::*;

    #[test]
    fn cuts_pad_dimensions_to_whole_slabs() {
        let form = |slab, fixed, a_slab| FilterForm { slab, fixed, a_slab };
        let forms = FilterCut { forms: [form(16, 1000, 10), form(32, 2000, 20), form(64, 2500, 30), form(64, 3000, 0)] };
        let cut = |d| {
            let Cut { name, padded_d, shared_bytes } = Cut::new(&forms, d);
            (name, padded_d, shared_bytes)
        };
        assert_eq!(cut(4), ("filter_16_resident".to_owned(), 16, 1010));
        assert_eq!(cut(17), ("filter_32_resident".to_owned(), 32, 2020));
        assert_eq!(cut(65), ("filter_64_resident".to_owned(), 128, 2560));
        assert_eq!(cut(129), ("filter_64_streaming".to_owned(), 192, 3000));
    }
}
