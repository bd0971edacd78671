//! What engines made of points and keep with them: a copy on a device, an index.
//!
//! It lies with the points and not in an engine, so that it goes when they go, that several threads' engines share it, and
//! that one call frees it all.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One thing of a kind each; what a kind is, is its type.
#[derive(Default)]
pub struct Kept(Mutex<Vec<Arc<dyn Any + Send + Sync>>>);

impl Kept {
    /// The thing of type `T`, if it is there and fits.
    pub fn find<T: Any + Send + Sync>(&self, fits: impl FnOnce(&T) -> bool) -> Option<Arc<T>> {
        let found = self.lock().iter().find_map(|thing| Arc::clone(thing).downcast::<T>().ok())?;
        fits(&found).then_some(found)
    }

    /// Keeps a thing, in the place of the one of its type.
    pub fn put<T: Any + Send + Sync>(&self, thing: Arc<T>) {
        let mut things = self.lock();
        things.retain(|thing| !thing.is::<T>());
        things.push(thing);
    }

    /// Lets go of the thing of type `T`: before another one is made that needs the room.
    pub fn forget<T: Any + Send + Sync>(&self) {
        self.lock().retain(|thing| !thing.is::<T>());
    }

    /// Lets go of everything, and says whether there was anything. Searches that go on keep what they have.
    pub fn release(&self) -> bool {
        !std::mem::take(&mut *self.lock()).is_empty()
    }

    /// A panic in another thread leaves the list whole.
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<dyn Any + Send + Sync>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Kept").field(&self.lock().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_thing_of_a_type() {
        let kept = Kept::default();
        assert!(kept.find(|_: &u32| true).is_none() && !kept.release());
        kept.put(Arc::new(1u32));
        kept.put(Arc::new("a tree".to_owned()));
        kept.put(Arc::new(2u32));
        assert_eq!(kept.find(|_: &u32| true).as_deref(), Some(&2));
        assert_eq!(kept.find(|&number: &u32| number == 1), None, "it is there and does not fit");
        kept.forget::<u32>();
        assert!(kept.find(|_: &u32| true).is_none() && kept.find(|_: &String| true).is_some());
        assert!(kept.release() && !kept.release());
    }
}
