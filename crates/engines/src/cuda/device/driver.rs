//! Detects the driver and GPUs and describes them.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock, OnceLock};

use cudarc::driver::sys::CUresult;
use cudarc::driver::{CudaContext, DriverError, result, sys};
use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::Clock;

use crate::cuda::DriverResult;
use crate::knn::{DeviceId, DeviceInfo, EngineError};
use crate::memory;

/// The oldest supported driver, as CUDA version × 1000: 12.8 (R570) is the first with every function that
/// cudarc calls. The embedded kernels need 13.0 (R580); in between, NVRTC from the driver's own toolkit is
/// used.
const OLDEST_DRIVER: i32 = 12_080;

/// Errors after which the driver answers every later call of this process with an error, even in new contexts
/// and after a reset (tested with R580: a kernel that traps, and one that writes to a wrong address).
const FATAL: [CUresult; 14] = [
    CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
    CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE,
    CUresult::CUDA_ERROR_CONTAINED,
    CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
    CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
    CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED,
    CUresult::CUDA_ERROR_ASSERT,
    CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR,
    CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
    CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
    CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE,
    CUresult::CUDA_ERROR_INVALID_PC,
    CUresult::CUDA_ERROR_LAUNCH_FAILED,
    CUresult::CUDA_ERROR_TENSOR_MEMORY_LEAK,
];

/// The first of the [`FATAL`] errors in this process, with the device's name.
static LOST: OnceLock<String> = OnceLock::new();

/// Whether the driver refuses this process any GPU because a kernel failed.
pub fn is_lost() -> bool {
    LOST.get().is_some()
}

/// Converts a driver error on a device of this name. `free` returns the free memory in bytes; it is called if
/// memory ran out.
pub fn engine_error(error: DriverError, device: &str, free: impl FnOnce() -> u64) -> EngineError {
    let device = device.to_owned();
    match error.0 {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => EngineError::MemoryRefused { free: free() >> 20, device },
        fatal if FATAL.contains(&fatal) => {
            LOST.get_or_init(|| format!("a kernel failed earlier on {device} ({})", error_text(error)));
            EngineError::DeviceLost { device, why: error_text(error) }
        }
        _ => EngineError::Device { device, why: error_text(error) },
    }
}

/// Loads the driver's library, because cudarc panics without it; the error is one sentence.
///
/// It is not loaded if the address space is limited to less than the driver reserves: it cannot be unloaded,
/// and its reservation would be missing for engines that need no GPU. Once it is loaded, the reservation no
/// longer counts as available.
fn check_present() -> Result<(), String> {
    /// For an H100, driver R580 reserves 12,540 MiB when it starts and 719 MiB for a context.
    const NEEDED: u64 = 14 << 30;
    static LOADED: OnceLock<()> = OnceLock::new();
    if LOADED.get().is_some() {
        return Ok(());
    }
    if let Some(left) = memory::addresses().filter(|&left| left < NEEDED) {
        let [needed, left] = [NEEDED, left].map(|bytes| bytes >> 20);
        return Err(format!(
            "the NVIDIA driver needs {needed} MiB of address space, but only {left} MiB is left; raise the \
             limit (ulimit -v)"
        ));
    }
    // SAFETY: only locates and loads a library.
    if !unsafe { sys::is_culib_present() } {
        return Err(
            "no NVIDIA driver was found (libcuda.so.1); an NVIDIA GPU needs driver R580 or later".to_owned()
        );
    }
    LOADED.get_or_init(|| ());
    Ok(())
}

/// Opens a GPU; the error is one sentence.
pub fn open(device: DeviceId) -> Result<Arc<CudaContext>, String> {
    let DeviceId::Gpu(ordinal) = device else { return Err(format!("device {device} is not an NVIDIA GPU")) };
    if let Some(why) = LOST.get() {
        return Err(format!("{why}; the GPU cannot be used again until Warpscope is restarted"));
    }
    check_present()?;
    result::init().map_err(|error| format!("cannot initialise the NVIDIA driver: {}", error_text(error)))?;
    let version = version().map_err(error_text)?;
    if version < OLDEST_DRIVER {
        return Err(format!(
            "the NVIDIA driver supports only CUDA {}: install driver R580 or later",
            version_text(version)
        ));
    }
    match u32::try_from(CudaContext::device_count().map_err(error_text)?).unwrap_or(0) {
        0 => Err("the NVIDIA driver reports no GPU".to_owned()),
        count if ordinal >= count => {
            Err(format!("GPU {ordinal} does not exist: the NVIDIA driver reports {count}, numbered from 0"))
        }
        _ => CudaContext::new(ordinal as usize).map_err(error_text),
    }
}

/// Starts a GPU; it stays started as long as the context. `None` for a CPU or without a usable driver.
pub fn start(device: DeviceId) -> Option<Arc<CudaContext>> {
    open(device).ok()
}

/// Number of GPUs that the driver reports; 0 without a usable driver.
pub fn count() -> u32 {
    if check_present().is_err() || result::init().is_err() {
        return 0;
    }
    CudaContext::device_count().ok().and_then(|count| u32::try_from(count).ok()).unwrap_or(0)
}

/// The limit of [`limit_memory`]; `u64::MAX` without one.
static MEMORY_LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Treats every GPU as if it had only this number of bytes.
pub fn limit_memory(bytes: u64) {
    MEMORY_LIMIT.store(bytes, Relaxed);
}

/// Bytes of free memory on a GPU, under the user's limit.
pub fn free(context: &CudaContext) -> DriverResult<u64> {
    let (free, total) = context.mem_get_info()?;
    let left = MEMORY_LIMIT.load(Relaxed).saturating_sub((total - free) as u64);
    Ok(left.min(free as u64))
}

/// Bytes of free memory on a GPU; `None` if it cannot be opened.
pub fn free_memory(device: DeviceId) -> Option<u64> {
    let context = open(device).ok()?;
    free(&context).ok()
}

/// The newest CUDA version that the driver supports, × 1000.
pub fn version() -> DriverResult<i32> {
    let mut version = 0;
    // SAFETY: writes one integer.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result()?;
    Ok(version)
}

/// A clause to append to a load error if the driver is too old for the embedded kernels; otherwise empty.
pub fn too_old_for_embedded() -> String {
    match version() {
        Ok(version) if version < 13_000 => {
            let version = version_text(version);
            format!(", because the driver supports only CUDA {version} (install R580 or later)")
        }
        _ => String::new(),
    }
}

fn version_text(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// The driver's own message, on one line.
pub fn error_text(error: DriverError) -> String {
    match (error.error_name(), error.error_string()) {
        (Ok(name), Ok(text)) => format!("{} ({})", text.to_string_lossy(), name.to_string_lossy()),
        _ => format!("CUDA error {}", error.0 as u32),
    }
}

/// Describes the device; `code` names the origin of its kernels.
pub fn describe(device: DeviceId, context: &Arc<CudaContext>, code: &str) -> DeviceInfo {
    use sys::CUdevice_attribute::{
        CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
    };
    let mut details = Vec::new();
    let mut add =
        |name: &str, value: Option<String>| details.extend(value.map(|value| (name.to_owned(), value)));
    add(
        "compute capability",
        context.compute_capability().ok().map(|(major, minor)| format!("{major}.{minor}")),
    );
    add(
        "multiprocessors",
        context.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).ok().map(|count| count.to_string()),
    );
    add("memory", context.total_mem().ok().map(|bytes| format!("{} MiB", bytes >> 20)));
    add(
        "L2 cache",
        context.attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE).ok().map(|bytes| format!("{} KiB", bytes >> 10)),
    );
    add("CUDA", version().ok().map(version_text));
    add("driver", Nvml::init().ok().and_then(|nvml| nvml.sys_driver_version().ok()));
    add("kernels", Some(code.to_owned()));
    DeviceInfo { id: Some(device), name: context.name().unwrap_or_else(|_| "NVIDIA GPU".to_owned()), details }
}

/// Clocks, power and the like, if the driver reports them; they vary from run to run.
pub fn telemetry(context: &Arc<CudaContext>) -> Vec<(String, String)> {
    let mut details = Vec::new();
    let Ok(uuid) = context.uuid() else { return details };
    // Starting the library takes 20 ms.
    static NVML: LazyLock<Option<Nvml>> = LazyLock::new(|| Nvml::init().ok());
    let Some(nvml) = &*NVML else { return details };
    let hex: Vec<String> = uuid.bytes.iter().map(|&byte| format!("{:02x}", byte as u8)).collect();
    let uuid = format!(
        "GPU-{}-{}-{}-{}-{}",
        hex[..4].concat(),
        hex[4..6].concat(),
        hex[6..8].concat(),
        hex[8..10].concat(),
        hex[10..].concat()
    );
    // CUDA and NVML number devices differently.
    let Ok(device) = nvml.device_by_uuid(uuid) else { return details };
    let mut add =
        |name: &str, value: Option<String>| details.extend(value.map(|value| (name.to_owned(), value)));
    add("SM clock", device.clock_info(Clock::SM).ok().map(|mhz| format!("{mhz} MHz")));
    add("memory clock", device.clock_info(Clock::Memory).ok().map(|mhz| format!("{mhz} MHz")));
    add("power", device.power_usage().ok().map(|milliwatts| format!("{:.0} W", f64::from(milliwatts) / 1e3)));
    add(
        "temperature",
        device
            .temperature(nvml_wrapper::enum_wrappers::device::TemperatureSensor::Gpu)
            .ok()
            .map(|degrees| format!("{degrees} °C")),
    );
    add(
        "other processes",
        device
            .running_compute_processes()
            .ok()
            .map(|all| all.iter().filter(|process| process.pid != std::process::id()).count().to_string()),
    );
    details
}
