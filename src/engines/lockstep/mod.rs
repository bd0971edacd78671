//! The CPU twin of the kernel.

use crate::knn::{DeviceInfo, Engine, EngineError, EngineKind, Problem, Search};

/// The engine.
pub struct Lockstep;

impl Lockstep {
    /// Opens it.
    pub fn new() -> Self {
        Self
    }
}

impl Engine for Lockstep {
    fn kind(&self) -> EngineKind {
        EngineKind::Lockstep
    }
    fn device(&self) -> DeviceInfo {
        unimplemented!()
    }
    fn load<'a>(&'a mut self, _problem: &'a Problem, _profile: bool) -> Result<Box<dyn Search + 'a>, EngineError> {
        unimplemented!()
    }
}
