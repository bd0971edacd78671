//! Isolates panics of third-party decoders.

use std::any::Any;
use std::panic;
use std::sync::Once;
use std::thread;

/// The name of the threads whose panics are not printed.
const NAME: &str = "decoder";

/// Runs `work` on a separate thread and returns a panic as an error, without printing it.
///
/// `Err` holds the panic message.
pub(crate) fn contained<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if thread::current().name() != Some(NAME) {
                before(info);
            }
        }));
    });
    thread::scope(|scope| match thread::Builder::new().name(NAME.to_owned()).spawn_scoped(scope, work) {
        Ok(running) => running.join().map_err(|payload| message(&*payload)),
        Err(why) => Err(format!("there is no thread for it: {why}")),
    })
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.and_then(|text| text.lines().next()).unwrap_or("no reason given").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(contained(|| 7), Ok(7));
        assert_eq!(contained(|| -> u8 { panic!("index {} out of range", 9) }), Err("index 9 out of range".to_owned()));
        assert_eq!(contained(|| 8), Ok(8));
    }
}
