//! Run-time compilation, and its cache on disk.
//!
//! The name of a cache entry is a hash of everything it depends on (source, options, architecture, driver,
//! compiler). Its contents start with their hash, so that a foreign or damaged entry is not loaded but
//! compiled again.

use std::ffi::{CStr, CString, c_char};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cudarc::nvrtc::result::NvrtcError;
use cudarc::nvrtc::{Ptx, sys};

use super::driver::{self, error_text};
use super::units::Unit;
use crate::files;

const HASH_BYTES: usize = 32;

/// The largest entry to read; the compiled kernels of a unit take a few MiB.
const MAX_BYTES: u64 = 64 << 20;

/// Compiles a unit for the context's device or loads it from the cache; also returns its origin.
pub fn compile(context: &Arc<CudaContext>, unit: Unit) -> Result<(Ptx, String), String> {
    preload();
    // cudarc panics if the library is missing, so check first.
    // SAFETY: only locates and loads a library.
    if !unsafe { sys::is_culib_present() } {
        return Err(
            "NVRTC (libnvrtc.so) was not found: install the CUDA toolkit, or run scripts/get-nvcc".to_owned()
        );
    }
    let (major, minor) = context.compute_capability().map_err(error_text)?;
    let options = options(unit, &format!("sm_{major}{minor}"));
    let compiler = version()?;
    let origin = format!("NVRTC {compiler}");
    let entry = cache_entry(unit.text(), &options, &compiler);
    if let Some(code) = entry.as_deref().and_then(read_entry) {
        return Ok((Ptx::from_binary(code), format!("{origin}, cached")));
    }
    let code = compile_source(unit.text(), &options)?;
    if let Some(entry) = entry {
        // Failing to write the cache only makes the next start slower.
        let _ = write_entry(&entry, &code);
    }
    Ok((Ptx::from_binary(code), origin))
}

/// Preloads NVRTC from where `scripts/get-nvcc` or a toolkit installs it outside the loader's search path;
/// the loader then finds it by name.
fn preload() {
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache")));
    let fetched = std::env::var_os("WARPSCOPE_NVCC_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(cache?.join("warpscope/nvcc-13.0")));
    let pythons =
        fetched.and_then(|home| fs::read_dir(home.join("lib")).ok()).into_iter().flatten().flatten();
    let folders = pythons.map(|python| python.path().join("site-packages/nvidia/cu13/lib"));
    let toolkit = std::env::var_os("CUDA_HOME")
        .map(PathBuf::from)
        .unwrap_or_else(|| "/usr/local/cuda".into())
        .join("lib64");
    let Some(folder) = folders.chain([toolkit]).find(|folder| folder.join("libnvrtc.so.13").is_file()) else {
        return;
    };
    // The compiler opens its built-ins library by file name, so that must be loaded too.
    let names = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let builtins = names.filter(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libnvrtc-builtins.so.13"))
    });
    for path in builtins.chain([folder.join("libnvrtc.so.13")]) {
        // SAFETY: NVIDIA's libraries have no harmful initialisers. They are never unloaded.
        if let Ok(library) = unsafe { libloading::Library::new(&path) } {
            std::mem::forget(library);
        }
    }
}

fn version() -> Result<String, String> {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: writes two integers.
    check(unsafe { sys::nvrtcVersion(&mut major, &mut minor) })?;
    Ok(format!("{major}.{minor}"))
}

fn check(result: sys::nvrtcResult) -> Result<(), String> {
    result.result().map_err(|NvrtcError(code)| format!("NVRTC failed: {code:?}"))
}

fn options(unit: Unit, architecture: &str) -> Vec<String> {
    let mut options = vec![
        format!("--gpu-architecture={architecture}"),
        "--std=c++17".to_owned(),
        format!("-DWARPSCOPE_K={}", unit.capacity),
        format!("-DWARPSCOPE_D={}", unit.dims),
        format!("-DWARPSCOPE_BUILDS={}", unit.builds.number()),
    ];
    if unit.exact_dims != 0 {
        options.push(format!("-DWARPSCOPE_EXACT_D={}", unit.exact_dims));
    }
    if let Some(policy) = unit.policy {
        options.push(format!(
            "-DWARPSCOPE_POLICY={}",
            policy.to_array().map(|number| number.to_string()).join(",")
        ));
    }
    if let Some((name, value)) = unit.option {
        options.push(format!("-D{name}={value}"));
    }
    options
}

fn compile_source(source: &str, options: &[String]) -> Result<Vec<u8>, String> {
    struct Program(sys::nvrtcProgram);
    impl Drop for Program {
        fn drop(&mut self) {
            // SAFETY: created by nvrtcCreateProgram and destroyed once.
            unsafe { sys::nvrtcDestroyProgram(&mut self.0) };
        }
    }
    let source = CString::new(source).expect("device code has no NUL");
    let options: Vec<CString> =
        options.iter().map(|option| CString::new(option.as_str()).expect("options have no NUL")).collect();
    let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    let mut program = Program(ptr::null_mut());
    // SAFETY: all pointers outlive the calls; each buffer's size is queried before it is filled.
    unsafe {
        check(sys::nvrtcCreateProgram(
            &mut program.0,
            source.as_ptr(),
            c"kernels.cu".as_ptr(),
            0,
            ptr::null(),
            ptr::null(),
        ))?;
        if check(sys::nvrtcCompileProgram(program.0, pointers.len() as i32, pointers.as_ptr())).is_err() {
            let mut size = 0;
            check(sys::nvrtcGetProgramLogSize(program.0, &mut size))?;
            let mut log = vec![0u8; size.max(1)];
            check(sys::nvrtcGetProgramLog(program.0, log.as_mut_ptr().cast()))?;
            let log = CStr::from_bytes_until_nul(&log).map(CStr::to_string_lossy).unwrap_or_default();
            return Err(format!(
                "NVRTC failed to compile the kernels: {}",
                log.lines().next().unwrap_or("no log")
            ));
        }
        let mut size = 0;
        check(sys::nvrtcGetCUBINSize(program.0, &mut size))?;
        let mut code = vec![0u8; size];
        check(sys::nvrtcGetCUBIN(program.0, code.as_mut_ptr().cast()))?;
        Ok(code)
    }
}

fn cache_entry(source: &str, options: &[String], compiler: &str) -> Option<PathBuf> {
    let mut hash = blake3::Hasher::new();
    for part in [source, compiler, &driver::version().unwrap_or_default().to_string()]
        .into_iter()
        .chain(options.iter().map(String::as_str))
    {
        hash.update(part.as_bytes()).update(&[0]);
    }
    let dirs = directories::ProjectDirs::from("", "", "warpscope")?;
    Some(dirs.cache_dir().join("kernels").join(format!("{}.cubin", &hash.finalize().to_hex()[..32])))
}

fn read_entry(path: &Path) -> Option<Vec<u8>> {
    let mut entry = files::read_small(path, MAX_BYTES).ok()?;
    let (hash, code) = entry.split_at_checked(HASH_BYTES)?;
    if blake3::hash(code).as_bytes() != hash {
        return None;
    }
    entry.drain(..HASH_BYTES);
    Some(entry)
}

fn write_entry(path: &Path, code: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().expect("an entry is in a folder");
    fs::create_dir_all(folder)?;
    files::write_small(path, |out| {
        out.write_all(blake3::hash(code).as_bytes())?;
        out.write_all(code)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::device::units::BuildSet;
    use crate::cuda::direct::Policy;
    use crate::cuda::trace;

    #[test]
    fn corrupt_cache_entries_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sub/entry.cubin");
        write_entry(&path, b"machine code").unwrap();
        assert_eq!(read_entry(&path).unwrap(), b"machine code");
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert_eq!(read_entry(&path), None);
        fs::write(&path, b"short").unwrap();
        assert_eq!(read_entry(&path), None);
        #[cfg(unix)]
        {
            fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
            assert_eq!(read_entry(&path), None, "a device that never ends");
        }
    }

    /// NVRTC needs no GPU, so every test run covers run-time compilation if NVRTC is installed.
    #[test]
    fn nvrtc_compiles_the_sources() {
        preload();
        // SAFETY: only locates and loads a library.
        if !unsafe { sys::is_culib_present() } {
            eprintln!("NVRTC is not installed (scripts/get-nvcc): nothing was compiled");
            return;
        }
        let policy = Policy { warps: 4, queries: 2, window: 4, batch: 512, slots: 2, tile: 8, min_blocks: 0 };
        let (small, large) = (Unit::new("direct/warp_knn", 32, 2), Unit::new("direct/warp_knn", 256, 0));
        let split = [2, 3, 0].map(|dims| Unit::new("split/split", 0, dims));
        let step = [("step/cluster", 0), ("step/order", 0), ("step/visit", 128)]
            .map(|(source, capacity)| Unit::new(source, capacity, 0));
        for unit in split.into_iter().chain(step).chain([
            small,
            Unit::new("direct/warp_knn", 64, 3),
            large,
            Unit { exact_dims: 5, ..large },
            Unit { policy: Some(policy), ..small },
            trace::unit(33, 3, 85),
            trace::unit(512, 17, 15),
            Unit { builds: BuildSet::Traced, ..Unit::new("select/warp_select", 64, 0) },
            Unit { builds: BuildSet::Traced, ..Unit::new("select/multi_pass", 0, 0) },
        ]) {
            let code = compile_source(unit.text(), &options(unit, "sm_75")).unwrap();
            assert!(code.starts_with(b"\x7fELF"), "{unit:?}");
        }
        // BF16 tensor-core instructions need sm_80 or newer.
        for unit in [
            Unit::new("filtered/filter", 0, 0),
            Unit::new("filtered/survivors", 32, 0),
            Unit::new("filtered/survivors", 512, 0),
        ] {
            let code = compile_source(unit.text(), &options(unit, "sm_80")).unwrap();
            assert!(code.starts_with(b"\x7fELF"), "{unit:?}");
        }
    }
}
