//! Whether the desktop asks for less motion. Linux desktops say so through their settings portal, on D-Bus.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// The desktop's preference, followed by a thread.
#[derive(Clone, Default)]
pub struct SystemMotion(Arc<AtomicU8>);

/// Values of [`SystemMotion`]; 0 is unknown.
const FULL: u8 = 1;
const REDUCED: u8 = 2;

impl SystemMotion {
    /// Whether the desktop asks for less motion; `None` if it does not say.
    pub fn is_reduced(&self) -> Option<bool> {
        match self.0.load(Ordering::Relaxed) {
            FULL => Some(false),
            REDUCED => Some(true),
            _ => None,
        }
    }

    /// Follows the preference until the program ends. On other platforms it stays unknown.
    #[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "there is no portal to follow"))]
    pub fn follow(&self, wake: impl Fn() + Send + 'static) {
        #[cfg(target_os = "linux")]
        {
            let motion = self.clone();
            let publish = move |reduced: bool| {
                motion.0.store(if reduced { REDUCED } else { FULL }, Ordering::Relaxed);
                wake();
            };
            // Without a thread, a bus or a portal, the preference stays unknown.
            let thread = std::thread::Builder::new().name("motion".to_owned());
            _ = thread.spawn(move || pollster::block_on(portal::follow(publish)));
        }
    }
}

#[cfg(target_os = "linux")]
mod portal {
    use futures_lite::StreamExt as _;
    use zbus::zvariant::{OwnedValue, Value};
    use zbus::{Connection, Proxy};

    /// A setting by namespace and key, and whether its value asks for less motion.
    type Setting = (&'static str, &'static str, fn(&Value<'_>) -> Option<bool>);

    /// The first that the portal knows is followed. Older desktops have only GNOME's.
    const SETTINGS: [Setting; 2] = [
        ("org.freedesktop.appearance", "reduced-motion", |value| Some(u32::try_from(value).ok()? == 1)),
        ("org.gnome.desktop.interface", "enable-animations", |value| Some(!bool::try_from(value).ok()?)),
    ];

    pub async fn follow(publish: impl Fn(bool)) -> zbus::Result<()> {
        let bus = Connection::session().await?;
        let portal = Proxy::new(
            &bus,
            "org.freedesktop.portal.Desktop",
            "/org/freedesktop/portal/desktop",
            "org.freedesktop.portal.Settings",
        )
        .await?;
        let mut changes = portal.receive_signal("SettingChanged").await?;
        for (namespace, key, is_reduced) in SETTINGS {
            let value: zbus::Result<OwnedValue> = portal.call("ReadOne", &(namespace, key)).await;
            let Some(reduced) = value.ok().and_then(|value| is_reduced(&value)) else { continue };
            publish(reduced);
            while let Some(change) = changes.next().await {
                let (space, name, value): (String, String, OwnedValue) = change.body().deserialize()?;
                if let Some(reduced) = is_reduced(&value).filter(|_| (&*space, &*name) == (namespace, key)) {
                    publish(reduced);
                }
            }
            break;
        }
        Ok(())
    }
}
