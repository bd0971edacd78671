//! Checks before drawing: displays, runtime folder, memory, graphics adapter.

use anyhow::{anyhow, bail};
use eframe::egui_wgpu::wgpu;

use crate::{files, memory};

/// Environment variables that name displays.
pub const DISPLAYS: [&str; 3] = ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"];

/// Environment variable that names the runtime folder, which holds the sockets of the user's programs.
const RUNTIME: &str = "XDG_RUNTIME_DIR";

/// A path without sockets. Unsetting the variable instead would make Wayland's library complain on stderr.
const NO_SOCKETS: &str = "/dev/null";

/// Keeps graphics drivers from connecting to displays, which they do even for offscreen rendering.
pub fn leave_displays() {
    // SAFETY: the program has just started; its other threads wait for signals or work and read no variables.
    unsafe {
        DISPLAYS.iter().for_each(|name| std::env::remove_var(name));
        std::env::set_var(RUNTIME, NO_SOCKETS);
    }
}

/// Keeps the window's libraries from connecting to sockets in a runtime folder that other users can write to.
/// Returns a sentence if the folder in the environment is not used.
pub fn check_runtime_folder() -> Option<String> {
    let folder = std::env::var_os(RUNTIME).filter(|folder| !folder.is_empty());
    if folder.as_ref().is_some_and(|folder| files::is_private(folder.as_ref())) {
        return None;
    }
    // SAFETY: as in `leave_displays`.
    unsafe { std::env::set_var(RUNTIME, NO_SOCKETS) };
    folder.map(|folder| {
        format!(
            "ignoring {RUNTIME}: other users own the folder or can write to it; use a folder of your own \
             with mode 0700: {}",
            folder.display()
        )
    })
}

/// Refuses to load a graphics driver if there is too little memory. Drivers crash if the limit on the address
/// space is below what they reserve. The system kills the program if a software renderer exceeds the memory
/// limit for a picture of this size.
///
/// # Errors
/// One sentence with the required and the available amount.
pub fn check_memory([width, height]: [u32; 2]) -> anyhow::Result<()> {
    const ADDRESSES: u64 = 3 << 29;
    const MEMORY: u64 = 64 << 20;
    /// Bytes per pixel: a picture of 2048 × 2048 pixels takes 124 MB more than one of 640 × 480.
    const OF_PIXEL: u64 = 32;
    if let Some(left) = memory::addresses().filter(|&left| left < ADDRESSES) {
        bail!(
            "drawing needs {} MiB of address space for the graphics driver, but only {} MiB are left; raise \
             the limit (ulimit -v)",
            ADDRESSES >> 20,
            left >> 20
        )
    }
    memory::check(MEMORY + OF_PIXEL * u64::from(width) * u64::from(height))
        .map_err(|short| anyhow!("drawing {short}; close other programs, or raise the memory limit"))
}

/// Checks that there is a graphics adapter, which may be a software renderer.
///
/// # Errors
/// A sentence that says what to install, or the error of [`check_memory`].
pub fn check_adapter() -> anyhow::Result<()> {
    check_memory([640, 480])?;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters =
        pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN | wgpu::Backends::GL));
    if adapters.is_empty() {
        bail!(
            "no graphics adapter: nothing can be drawn without a Vulkan or OpenGL driver; install one, for \
             example mesa-vulkan-drivers, which needs no GPU"
        );
    }
    Ok(())
}
