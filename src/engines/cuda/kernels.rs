//! The device code: embedded by `build.rs`, or compiled by NVRTC at run time.

use std::collections::HashMap;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaFunction, CudaModule};
use cudarc::nvrtc::Ptx;

use super::driver::{self, say};
use super::nvrtc;
use super::policy::Variant;
use crate::knn::Build;

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}

/// What is compiled on its own and becomes a module: a line of `cuda/units.txt`, for one capacity and dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    /// The entry file in `cuda/`, without its extension.
    pub source: &'static str,
    /// K, or 0 for any.
    pub capacity: u32,
    /// d, or 0 for any.
    pub dims: u32,
}

impl Unit {
    /// The source's text, includes resolved.
    pub fn text(self) -> &'static str {
        embedded::SOURCES.iter().find(|(source, _)| *source == self.source).expect("the unit is in cuda/units.txt").1
    }
}

impl Variant {
    fn unit(self) -> Unit {
        Unit { source: "warp_knn", capacity: self.capacity, dims: self.dims }
    }
}

/// Loads kernels and keeps them.
pub struct Kernels {
    context: Arc<CudaContext>,
    modules: HashMap<Unit, Arc<CudaModule>>,
    functions: HashMap<String, CudaFunction>,
}

impl Kernels {
    /// Nothing loaded yet.
    pub fn new(context: Arc<CudaContext>) -> Self {
        Self { context, modules: HashMap::new(), functions: HashMap::new() }
    }

    /// Loads the smallest kernel, to see whether any can be had, and says where they come from.
    pub fn probe(&mut self) -> Result<String, String> {
        let unit = Variant { capacity: 32, dims: 2 }.unit();
        let (module, origin) = self.load(unit)?;
        self.modules.insert(unit, module);
        Ok(origin)
    }

    /// A build of the search, ready to be launched.
    pub fn get(&mut self, variant: Variant, build: Build) -> Result<CudaFunction, String> {
        self.function(variant.unit(), &format!("warp_knn_k{}_d{}_{}", variant.capacity, variant.dims, build_name(build)))
    }

    /// A unit's kernel by its name, which is like no other unit's.
    pub fn function(&mut self, unit: Unit, name: &str) -> Result<CudaFunction, String> {
        if let Some(function) = self.functions.get(name) {
            return Ok(function.clone());
        }
        let module = match self.modules.get(&unit) {
            Some(module) => Arc::clone(module),
            None => {
                let (module, _) = self.load(unit)?;
                self.modules.insert(unit, Arc::clone(&module));
                module
            }
        };
        let function = module.load_function(name).map_err(say)?;
        self.functions.insert(name.to_owned(), function.clone());
        Ok(function)
    }

    fn load(&self, unit: Unit) -> Result<(Arc<CudaModule>, String), String> {
        let found = embedded::EMBEDDED.iter().find(|&&(source, capacity, dims, _)| Unit { source, capacity, dims } == unit);
        let embedded = match found {
            Some((_, _, _, code)) => match self.context.load_module(Ptx::from_binary(code.to_vec())) {
                Ok(module) => return Ok((module, format!("embedded, {}", embedded::EMBEDDED_ABOUT))),
                Err(error) => {
                    format!("the embedded kernels ({}) do not load: {}{}", embedded::EMBEDDED_ABOUT, say(error), driver::too_old_for_embedded())
                }
            },
            None => format!("this program embeds no kernels ({})", embedded::EMBEDDED_ABOUT),
        };
        let (code, origin) = nvrtc::compile(&self.context, unit).map_err(|why| format!("{embedded}, and {why}"))?;
        let module = self.context.load_module(code).map_err(|error| format!("{embedded}, and what NVRTC compiled does not load: {}", say(error)))?;
        Ok((module, origin))
    }
}

/// As kernels end their names.
fn build_name(build: Build) -> &'static str {
    match build {
        Build::Timed => "timed",
        Build::Counted => "counted",
        Build::Profiled => "profiled",
    }
}
