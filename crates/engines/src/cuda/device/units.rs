//! Compilation units, each of which becomes a module: embedded by `build.rs`, or as text for NVRTC.

use crate::cuda::direct::Policy;
use crate::knn::KernelBuild;

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}

pub use embedded::EMBEDDED_ABOUT;

/// A compilation unit: one line of `cuda/units.txt`, for one capacity and dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    /// The entry file in `cuda/`, without its extension.
    pub source: &'static str,
    /// The capacity K, or 0 for any.
    pub capacity: u32,
    /// The number of dimensions d, or 0 for any.
    pub dims: u32,
    /// If not 0, compiled for exactly this d. Only NVRTC does that.
    pub exact_dims: u32,
    /// Overrides the tuning policy of the table. Only NVRTC does that.
    pub policy: Option<Policy>,
    /// A macro that overrides a default of the unit. Only NVRTC does that.
    pub option: Option<(&'static str, u32)>,
    /// The builds of the search in this unit.
    pub builds: BuildSet,
}

/// The set of search builds in a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuildSet {
    /// The builds that runs use: timed, counted and profiled.
    Runs,
    /// A single build. NVRTC compiles these separately, in parallel.
    Single(KernelBuild),
    /// The traced build. It is never embedded: it depends on the staging of points, and only lessons use it.
    Traced,
}

impl BuildSet {
    /// The value of `WARPSCOPE_BUILDS` in `cuda/direct/warp_knn.cu`.
    pub fn number(self) -> u32 {
        match self {
            Self::Runs => 7,
            Self::Single(build) => 1 << build as u32,
            Self::Traced => 8,
        }
    }
}

impl Unit {
    /// A unit with the table's policy.
    pub fn new(source: &'static str, capacity: u32, dims: u32) -> Self {
        Self { source, capacity, dims, exact_dims: 0, policy: None, option: None, builds: BuildSet::Runs }
    }

    /// Source text with includes resolved.
    pub fn text(self) -> &'static str {
        self.row().2
    }

    /// Whether a program built with nvcc embeds it.
    fn is_to_be_embedded(self) -> bool {
        self.row().1
    }

    fn row(self) -> &'static (&'static str, bool, &'static str) {
        embedded::SOURCES
            .iter()
            .find(|(source, ..)| *source == self.source)
            .expect("the unit is in cuda/units.txt")
    }

    /// The embedded fat binary, if this program has it.
    pub fn embedded(self) -> Option<&'static [u8]> {
        let Self { source, capacity, dims, .. } = self;
        let is = |&&(of, k, d, _): &&(&str, u32, u32, _)| (of, k, d) == (source, capacity, dims);
        let code = embedded::EMBEDDED.iter().find(is).map(|&(_, _, _, code)| code);
        code.filter(|_| self == Self::new(source, capacity, dims))
    }

    /// The unit that contains a given build of the search: this one if it is embedded, otherwise one for that
    /// build alone. The traced unit also contains the kernels that are part of every build.
    pub fn for_build(self, build: KernelBuild) -> Self {
        if self.embedded().is_some() || self.builds == BuildSet::Traced {
            self
        } else {
            Self { builds: BuildSet::Single(build), ..self }
        }
    }

    /// Explains why a unit that is neither embedded nor compiled is unavailable.
    pub fn why_not(self, why: &str) -> String {
        if self.builds == BuildSet::Traced {
            format!("the traced kernel is compiled on demand, and {why}")
        } else if self.exact_dims != 0
            || self.policy.is_some()
            || self.option.is_some()
            || !self.is_to_be_embedded()
        {
            format!("this kernel is compiled on demand, and {why}")
        } else {
            format!("this program embeds no kernels ({}), and {why}", EMBEDDED_ABOUT)
        }
    }
}

/// The suffix of a build's kernel names.
pub fn build_name(build: KernelBuild) -> &'static str {
    match build {
        KernelBuild::Timed => "timed",
        KernelBuild::Counted => "counted",
        KernelBuild::Profiled => "profiled",
    }
}

/// A source file that lessons quote, by its path below `cuda/`.
pub fn source_of(file: &str) -> Option<&'static str> {
    match file {
        "warp/bitonic.cuh" => Some(include_str!("../../../../../cuda/warp/bitonic.cuh")),
        "warp/candidate_buffer.cuh" => Some(include_str!("../../../../../cuda/warp/candidate_buffer.cuh")),
        "direct/warp_knn.cuh" => Some(include_str!("../../../../../cuda/direct/warp_knn.cuh")),
        "index/boxes.cuh" => Some(include_str!("../../../../../cuda/index/boxes.cuh")),
        "index/nearest.cuh" => Some(include_str!("../../../../../cuda/index/nearest.cuh")),
        "index/traverse.cuh" => Some(include_str!("../../../../../cuda/index/traverse.cuh")),
        "select/multi_pass.cuh" => Some(include_str!("../../../../../cuda/select/multi_pass.cuh")),
        "select/warp_select.cuh" => Some(include_str!("../../../../../cuda/select/warp_select.cuh")),
        "warp/network.cuh" => Some(include_str!("../../../../../cuda/warp/network.cuh")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_self_contained() {
        for &(source, _, text) in embedded::SOURCES {
            assert!(!text.contains("#include"), "{source}: NVRTC has no folder to look in");
            assert!(text.contains("extern \"C\" __global__"), "{source} has no entry point");
            assert_eq!(Unit::new(source, 0, 0).text(), text);
        }
    }

    /// The program embeds exactly the units that the table says, and none marked on-demand.
    #[test]
    fn embedded_units_match_the_unit_table() {
        for &(source, capacity, dims, _) in embedded::EMBEDDED {
            let unit = Unit::new(source, capacity, dims);
            assert!(unit.is_to_be_embedded() && unit.embedded().is_some(), "{unit:?}");
            // A unit with another policy is another kernel.
            assert!(
                Unit { exact_dims: 5, ..unit }.embedded().is_none()
                    && Unit { builds: BuildSet::Traced, ..unit }.embedded().is_none()
            );
        }
    }

    #[test]
    fn errors_explain_why_a_kernel_is_unavailable() {
        let unit = Unit::new("direct/warp_knn", 32, 0);
        assert!(unit.why_not("there is no NVRTC").starts_with("this program embeds no kernels ("));
        let exact = Unit { exact_dims: 5, ..unit };
        assert_eq!(
            exact.why_not("there is no NVRTC"),
            "this kernel is compiled on demand, and there is no NVRTC"
        );
        let traced = Unit { builds: BuildSet::Traced, ..unit };
        assert_eq!(
            traced.why_not("there is no NVRTC"),
            "the traced kernel is compiled on demand, and there is no NVRTC"
        );
    }
}
