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

/// Loads kernels and keeps them.
pub struct Kernels {
    context: Arc<CudaContext>,
    /// A variant's module holds its three builds.
    modules: HashMap<Variant, Arc<CudaModule>>,
    functions: HashMap<(Variant, Build), CudaFunction>,
}

impl Kernels {
    /// Nothing loaded yet.
    pub fn new(context: Arc<CudaContext>) -> Self {
        Self { context, modules: HashMap::new(), functions: HashMap::new() }
    }

    /// Loads the smallest kernel, to see whether any can be had, and says where they come from.
    pub fn probe(&mut self) -> Result<String, String> {
        let (module, origin) = self.load(Variant { capacity: 32, dims: 2 })?;
        self.modules.insert(Variant { capacity: 32, dims: 2 }, module);
        Ok(origin)
    }

    /// A kernel, ready to be launched.
    pub fn get(&mut self, variant: Variant, build: Build) -> Result<CudaFunction, String> {
        if let Some(function) = self.functions.get(&(variant, build)) {
            return Ok(function.clone());
        }
        let module = match self.modules.get(&variant) {
            Some(module) => Arc::clone(module),
            None => {
                let (module, _) = self.load(variant)?;
                self.modules.insert(variant, Arc::clone(&module));
                module
            }
        };
        let function = module.load_function(&entry(variant, build)).map_err(say)?;
        self.functions.insert((variant, build), function.clone());
        Ok(function)
    }

    fn load(&self, variant: Variant) -> Result<(Arc<CudaModule>, String), String> {
        let found = embedded::EMBEDDED.iter().find(|(capacity, dims, _)| (*capacity, *dims) == (variant.capacity, variant.dims));
        let embedded = match found {
            Some((_, _, code)) => match self.context.load_module(Ptx::from_binary(code.to_vec())) {
                Ok(module) => return Ok((module, format!("embedded, {}", embedded::EMBEDDED_ABOUT))),
                Err(error) => {
                    format!("the embedded kernels ({}) do not load: {}{}", embedded::EMBEDDED_ABOUT, say(error), driver::too_old_for_embedded())
                }
            },
            None => format!("this program embeds no kernels ({})", embedded::EMBEDDED_ABOUT),
        };
        let (code, origin) = nvrtc::compile(&self.context, variant).map_err(|why| format!("{embedded}, and {why}"))?;
        let module = self.context.load_module(code).map_err(|error| format!("{embedded}, and what NVRTC compiled does not load: {}", say(error)))?;
        Ok((module, origin))
    }
}

/// The name of a kernel in its module.
fn entry(variant: Variant, build: Build) -> String {
    let build = match build {
        Build::Timed => "timed",
        Build::Counted => "counted",
        Build::Profiled => "profiled",
    };
    format!("warp_knn_k{}_d{}_{build}", variant.capacity, variant.dims)
}
