//! Whether anything can be drawn here.

use anyhow::bail;
use eframe::egui_wgpu::wgpu;

/// Keeps Wayland's library quiet, which graphics drivers ask for a display whether or not there is one: where this variable is not
/// set, it complains on stderr before anything that we say.
pub fn quieten() {
    const PLACE: &str = "XDG_RUNTIME_DIR";
    if [PLACE, "WAYLAND_DISPLAY"].iter().all(|name| std::env::var_os(name).is_none_or(|value| value.is_empty())) {
        // SAFETY: the program has just begun; its other threads wait for signals or for work, and read no variable.
        unsafe { std::env::set_var(PLACE, std::env::temp_dir()) };
    }
}

/// Whether there is a graphics adapter, a software one included.
///
/// # Errors
/// One sentence that says what to install.
pub fn check_adapter() -> anyhow::Result<()> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN | wgpu::Backends::GL));
    if adapters.is_empty() {
        bail!(
            "no graphics adapter: nothing can be drawn without a Vulkan or OpenGL driver; install one, for example mesa-vulkan-drivers, which needs no GPU"
        );
    }
    Ok(())
}
