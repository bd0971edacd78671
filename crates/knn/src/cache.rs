//! Data that engines derive from points, cached with them: a copy on a device, an index.
//!
//! The cache belongs to the points rather than to an engine, so that it is dropped with them, engines on several threads
//! share it, and one call frees everything.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::DeviceId;

/// A value and its device; pointers of one GPU are meaningless on another.
type Entry = (DeviceId, Arc<dyn Any + Send + Sync>);

/// At most one value per type and device.
#[derive(Default)]
pub struct Cache(Mutex<Vec<Entry>>);

impl Cache {
    /// The value of type `T` for a device, if present and `fits` accepts it.
    pub fn get<T: Any + Send + Sync>(&self, device: DeviceId, fits: impl FnOnce(&T) -> bool) -> Option<Arc<T>> {
        let found = self.lock().iter().find_map(|(of, value)| Arc::clone(value).downcast::<T>().ok().filter(|_| *of == device))?;
        fits(&found).then_some(found)
    }

    /// Caches a value for a device, replacing any of the same type.
    pub fn insert<T: Any + Send + Sync>(&self, device: DeviceId, value: Arc<T>) {
        let mut entries = self.lock();
        entries.retain(|(of, value)| *of != device || !value.is::<T>());
        entries.push((device, value));
    }

    /// Removes the value of type `T` for a device, to free its memory before a replacement is built.
    pub fn remove<T: Any + Send + Sync>(&self, device: DeviceId) {
        self.lock().retain(|(of, value)| *of != device || !value.is::<T>());
    }

    /// Removes everything; false if the cache was empty. Running searches hold references to what they use.
    pub fn clear(&self) -> bool {
        !std::mem::take(&mut *self.lock()).is_empty()
    }

    /// Ignores poisoning: no operation can panic halfway through changing the list.
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
