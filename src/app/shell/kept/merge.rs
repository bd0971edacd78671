//! What several windows keep in one file: each puts in what was changed in it, and leaves the rest as it finds it.

use serde_json::{Map, Value};

use crate::app::model::State;
use crate::app::shell::kept::Content;

/// The field of files that were opened, which come together from all windows.
const RECENT: &str = "recent";

/// `base` is what this window had when it last read or wrote the file, `mine` what it has now, and `theirs` the file. Where both
/// changed a field, this window is the later one. Fields that only the file has stay.
pub fn merge(base: &Content, mine: &Content, theirs: &Content) -> Content {
    let mut state: Map<String, Value> = theirs.state.clone();
    for (key, value) in &mine.state {
        let known = base.state.get(key);
        match theirs.state.get(key) {
            Some(there) if key == RECENT => _ = state.insert(key.clone(), recent(known, value, there)),
            Some(_) if known == Some(value) => {}
            _ => _ = state.insert(key.clone(), value.clone()),
        }
    }
    let last = if mine.last == base.last { theirs.last.clone() } else { mine.last.clone() };
    Content { state, last }
}

/// This window's files, then those that others added; without what others have forgotten since.
fn recent(base: Option<&Value>, mine: &Value, theirs: &Value) -> Value {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (base, mine, theirs) = (base.map(list).unwrap_or_default(), list(mine), list(theirs));
    let kept = mine.iter().filter(|path| theirs.contains(path) || !base.contains(path));
    let added = theirs.iter().filter(|path| !mine.contains(path) && !base.contains(path));
    Value::Array(kept.chain(added).take(State::RECENT).cloned().collect())
}
