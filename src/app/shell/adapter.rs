//! Whether anything can be drawn here.

use anyhow::bail;
use eframe::egui_wgpu::wgpu;

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
