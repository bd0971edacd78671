//! A listener of another user at the addresses of displays and buses, which never answers.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::process::Command;

use crate::jobs::TestDir;

/// A world-writable folder with listeners at the names that libraries try.
struct ListenerDir {
    listeners: Vec<(&'static str, UnixListener)>,
}

impl ListenerDir {
    fn in_place(place: &TestDir) -> Self {
        let folder = place.path("shared");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o1777)).unwrap();
        let listen = |name| {
            let listener = UnixListener::bind(folder.join(name)).unwrap();
            listener.set_nonblocking(true).unwrap();
            (name, listener)
        };
        Self { listeners: ["wayland-0", "wayland-1", "bus", "pipewire-0"].map(listen).into() }
    }

    /// The sockets that received a connection.
    fn visited(&self) -> Vec<&'static str> {
        let was = |listener: &UnixListener| {
            !matches!(
                listener.accept(),
                Err(why) if why.kind() == ErrorKind::WouldBlock
            )
        };
        self.listeners.iter().filter(|(_, listener)| was(listener)).map(|(name, _)| *name).collect()
    }
}

/// Runs the program and kills it after a minute.
fn call(place: &TestDir, args: &str) -> Command {
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "60", env!("CARGO_BIN_EXE_warpscope")]).args(args.split(' '));
    place.run_in(&mut command);
    command
}

#[cfg(feature = "gui")]
#[test]
fn pictures_do_not_connect_to_sockets_in_a_shared_folder() {
    let place = TestDir::new(false);
    let shared = ListenerDir::in_place(&place);
    fs::write(place.path("a.csv"), "x,y\n1,2\n3,4\n5,7\n").unwrap();
    let folder = place.path("shared");
    let folder = folder.to_str().unwrap();
    let cases: [&[(&str, &str)]; 3] = [
        &[("TMPDIR", folder)],
        &[("XDG_RUNTIME_DIR", folder), ("WAYLAND_DISPLAY", "wayland-0")],
        &[("XDG_RUNTIME_DIR", folder), ("DISPLAY", ":0"), ("WAYLAND_DISPLAY", "wayland-1")],
    ];
    for environment in cases {
        let mut command = call(&place, "gui a.csv --png a.png --size 320x240");
        for name in
            ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"]
        {
            command.env_remove(name);
        }
        let done = command.envs(environment.iter().copied()).output().unwrap();
        assert!(done.status.success(), "{environment:?}: {}", String::from_utf8_lossy(&done.stderr));
        assert!(done.stderr.is_empty(), "{environment:?}: {}", String::from_utf8_lossy(&done.stderr));
        assert!(fs::metadata(place.path("a.png")).unwrap().len() > 1000);
        assert_eq!(shared.visited(), [""; 0], "{environment:?}");
    }
}

#[test]
fn searches_do_not_connect_to_sockets() {
    let place = TestDir::new(false);
    let shared = ListenerDir::in_place(&place);
    let folder = place.path("shared");
    let mut command = call(&place, "knn cloud.npy 10 -k 2 -o a.csv");
    let done = command.env("XDG_RUNTIME_DIR", &folder).env("TMPDIR", &folder).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(shared.visited(), [""; 0]);
    // Check that a connection is detected.
    let _visitor = std::os::unix::net::UnixStream::connect(folder.join("bus")).unwrap();
    assert_eq!(shared.visited(), ["bus"]);
}
