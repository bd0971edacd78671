//! What is compiled on its own and becomes a module: embedded by `build.rs`, or as text for NVRTC.

use crate::engines::cuda::direct::Policy;
use crate::knn::Build;

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}

pub use embedded::EMBEDDED_ABOUT;

/// What is compiled on its own and becomes a module: a line of `cuda/units.txt`, for one capacity and dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    /// The entry file in `cuda/`, without its extension.
    pub source: &'static str,
    /// K, or 0 for any.
    pub capacity: u32,
    /// d, or 0 for any.
    pub dims: u32,
    /// Compiled for this d alone; 0: for any. Only NVRTC does that.
    pub exact_dims: u32,
    /// Cut to size in another way than the table says. Only NVRTC does that.
    pub policy: Option<Policy>,
    /// What it holds of the search.
    pub builds: Builds,
}

/// Which builds of the search a module holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builds {
    /// All that runs use: timed, counted and profiled.
    Runs,
    /// One of them. NVRTC compiles them one by one, side by side.
    One(Build),
    /// The traced one, which is never embedded: each staging of points has its own, and only a lesson asks for it.
    Traced,
}

impl Builds {
    /// `WARPSCOPE_BUILDS` of `cuda/direct/warp_knn.cu`.
    pub fn number(self) -> u32 {
        match self {
            Self::Runs => 7,
            Self::One(build) => 1 << build as u32,
            Self::Traced => 8,
        }
    }
}

impl Unit {
    /// A unit as the table says.
    pub fn new(source: &'static str, capacity: u32, dims: u32) -> Self {
        Self { source, capacity, dims, exact_dims: 0, policy: None, builds: Builds::Runs }
    }

    /// The source's text, includes resolved.
    pub fn text(self) -> &'static str {
        self.row().2
    }

    /// Whether programs carry it compiled, if they are built with an nvcc.
    fn is_to_be_embedded(self) -> bool {
        self.row().1
    }

    fn row(self) -> &'static (&'static str, bool, &'static str) {
        embedded::SOURCES.iter().find(|(source, ..)| *source == self.source).expect("the unit is in cuda/units.txt")
    }

    /// Its fat binary, where this program has it.
    pub fn embedded(self) -> Option<&'static [u8]> {
        let Self { source, capacity, dims, .. } = self;
        let is = |&&(of, k, d, _): &&(&str, u32, u32, _)| (of, k, d) == (source, capacity, dims);
        let code = embedded::EMBEDDED.iter().find(is).map(|&(_, _, _, code)| code);
        code.filter(|_| self == Self::new(source, capacity, dims))
    }

    /// Where a build of the search is: with the others where they are embedded, else by itself. What comes with every build
    /// comes with the traced one, too.
    pub fn of_build(self, build: Build) -> Self {
        if self.embedded().is_some() || self.builds == Builds::Traced { self } else { Self { builds: Builds::One(build), ..self } }
    }

    /// Why it cannot be had, where it is not embedded and was not compiled either.
    pub fn why_not(self, why: &str) -> String {
        if self.builds == Builds::Traced {
            format!("the traced kernel is compiled when it is asked for, and {why}")
        } else if self.exact_dims != 0 || self.policy.is_some() || !self.is_to_be_embedded() {
            format!("this kernel is compiled when it is asked for, and {why}")
        } else {
            format!("this program embeds no kernels ({}), and {why}", EMBEDDED_ABOUT)
        }
    }
}

/// As kernels end their names.
pub fn build_name(build: Build) -> &'static str {
    match build {
        Build::Timed => "timed",
        Build::Counted => "counted",
        Build::Profiled => "profiled",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_is_one_text() {
        for &(source, _, text) in embedded::SOURCES {
            assert!(!text.contains("#include"), "{source}: NVRTC has no folder to look in");
            assert!(text.contains("extern \"C\" __global__"), "{source} has no entry point");
            assert_eq!(Unit::new(source, 0, 0).text(), text);
        }
    }

    /// What a program carries compiled is what the table says it should, and nothing that it says is on demand.
    #[test]
    fn what_is_on_demand_is_not_embedded() {
        for &(source, capacity, dims, _) in embedded::EMBEDDED {
            let unit = Unit::new(source, capacity, dims);
            assert!(unit.is_to_be_embedded() && unit.embedded().is_some(), "{unit:?}");
            // A kernel that is cut to size in another way is another kernel.
            assert!(Unit { exact_dims: 5, ..unit }.embedded().is_none() && Unit { builds: Builds::Traced, ..unit }.embedded().is_none());
        }
    }

    #[test]
    fn a_kernel_that_cannot_be_had_says_why() {
        let unit = Unit::new("direct/warp_knn", 32, 0);
        assert!(unit.why_not("there is no NVRTC").starts_with("this program embeds no kernels ("));
        let exact = Unit { exact_dims: 5, ..unit };
        assert_eq!(exact.why_not("there is no NVRTC"), "this kernel is compiled when it is asked for, and there is no NVRTC");
        let traced = Unit { builds: Builds::Traced, ..unit };
        assert_eq!(traced.why_not("there is no NVRTC"), "the traced kernel is compiled when it is asked for, and there is no NVRTC");
    }
}
