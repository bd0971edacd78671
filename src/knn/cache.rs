//! What engines made of points, cached with them: a copy on a device, an index.
//!
//! It lies with the points and not in an engine, so that it goes when they go, that several threads' engines share it, and
//! that one call frees it all.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::DeviceId;

/// A value and the device that it is for; pointers of one GPU mean nothing on another.
type Entry = (DeviceId, Arc<dyn Any + Send + Sync>);

/// One value of each type for each device.
#[derive(Default)]
pub struct Cache(Mutex<Vec<Entry>>);

impl Cache {
    /// The value of type `T` for a device, if there is one and it fits.
    pub fn get<T: Any + Send + Sync>(&self, device: DeviceId, fits: impl FnOnce(&T) -> bool) -> Option<Arc<T>> {
        let found = self.lock().iter().find_map(|(of, value)| Arc::clone(value).downcast::<T>().ok().filter(|_| *of == device))?;
        fits(&found).then_some(found)
    }

    /// Caches a value for a device, in place of the one of its type.
    pub fn insert<T: Any + Send + Sync>(&self, device: DeviceId, value: Arc<T>) {
        let mut entries = self.lock();
        entries.retain(|(of, value)| *of != device || !value.is::<T>());
        entries.push((device, value));
    }

    /// Removes the value of type `T` for a device: before another one is made that needs the room.
    pub fn remove<T: Any + Send + Sync>(&self, device: DeviceId) {
        self.lock().retain(|(of, value)| *of != device || !value.is::<T>());
    }

    /// Removes everything, and says whether there was anything. Searches that go on keep what they have.
    pub fn clear(&self) -> bool {
        !std::mem::take(&mut *self.lock()).is_empty()
    }

    /// A panic in another thread leaves the list whole.
    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Cache").field(&self.lock().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_value_of_a_type_for_a_device() {
        let (cpu, first, second) = (DeviceId::Cpu, DeviceId::Gpu(0), DeviceId::Gpu(1));
        let cache = Cache::default();
        assert!(cache.get(cpu, |_: &u32| true).is_none() && !cache.clear());
        cache.insert(cpu, Arc::new(1u32));
        cache.insert(cpu, Arc::new("a tree".to_owned()));
        cache.insert(cpu, Arc::new(2u32));
        assert_eq!(cache.get(cpu, |_: &u32| true).as_deref(), Some(&2));
        assert_eq!(cache.get(cpu, |&number: &u32| number == 1), None, "it is there and does not fit");
        cache.insert(first, Arc::new(10u32));
        assert!(cache.get(second, |_: &u32| true).is_none(), "what is on one GPU is not on the other");
        cache.insert(second, Arc::new(11u32));
        assert_eq!([cpu, first, second].map(|device| *cache.get(device, |_: &u32| true).unwrap()), [2, 10, 11]);
        cache.remove::<u32>(first);
        assert!(cache.get(first, |_: &u32| true).is_none() && cache.get(second, |_: &u32| true).is_some());
        assert!(cache.get(cpu, |_: &String| true).is_some());
        assert!(cache.clear() && !cache.clear());
    }
}
