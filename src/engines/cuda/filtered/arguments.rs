//! The parameters of the kernels, in the device's layout.

use cudarc::driver::DeviceRepr;
use cudarc::driver::sys::CUdeviceptr;

use super::super::search::TallyOut;

/// `Rounding` of `cuda/filtered/filter.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounding {
    pub rows: CUdeviceptr,
    pub centre: CUdeviceptr,
    pub scale: f64,
    pub epsilon: f64,
    pub largest_norm: f64,
    pub factor: f32,
    pub count: u32,
    pub d: u32,
    pub padded_d: u32,
    pub rounded: CUdeviceptr,
    pub bounds: CUdeviceptr,
    pub errors: CUdeviceptr,
    pub largest_errors: CUdeviceptr,
}

/// `Filter` of `cuda/filtered/filter.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct FilterArguments {
    pub points: CUdeviceptr,
    pub point_bounds: CUdeviceptr,
    pub largest_errors: CUdeviceptr,
    pub queries: CUdeviceptr,
    pub query_bounds: CUdeviceptr,
    pub radii: CUdeviceptr,
    pub padded_d: u32,
    pub first_tile: u32,
    pub tiles: u32,
    pub tiles_a_block: u32,
    pub survivors: CUdeviceptr,
    pub query_rows: u32,
}

/// `SurvivorSearch` of `cuda/filtered/survivors.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct SelectArguments {
    pub points: CUdeviceptr,
    pub queries: CUdeviceptr,
    pub n: u32,
    pub d: u32,
    pub k: u32,
    pub first_query: u32,
    pub last_query: u32,
    pub first_point: u32,
    pub last_point: u32,
    pub survivors: CUdeviceptr,
    pub query_rows: u32,
    pub keys: CUdeviceptr,
    pub buffers: CUdeviceptr,
    pub warps: CUdeviceptr,
    pub radii: CUdeviceptr,
    pub errors: CUdeviceptr,
    pub scale: f64,
    pub epsilon: f64,
    pub computed: CUdeviceptr,
    pub indices: CUdeviceptr,
    pub squared_distances: CUdeviceptr,
    pub tally: TallyOut,
}

// The device code asserts the same of its own.
const _: () = assert!(size_of::<Rounding>() == 88 && std::mem::offset_of!(Rounding, rounded) == 56);
const _: () = assert!(size_of::<FilterArguments>() == 80 && std::mem::offset_of!(FilterArguments, survivors) == 64);
const _: () = assert!(size_of::<SelectArguments>() == 176);
const _: () = assert!(std::mem::offset_of!(SelectArguments, survivors) == 48 && std::mem::offset_of!(SelectArguments, tally) == 144);

// SAFETY: the device's structs, member for member.
unsafe impl DeviceRepr for Rounding {}
unsafe impl DeviceRepr for FilterArguments {}
unsafe impl DeviceRepr for SelectArguments {}
