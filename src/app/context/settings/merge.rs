//! What several windows keep in one file: each puts in what was changed in it, and leaves the rest as it finds it.

use serde_json::{Map, Value};

use crate::app::context::settings::Content;
use crate::app::model::State;

/// The field of files that were opened, which come together from all windows.
const RECENT: &str = "recent";

/// The field of what was chosen of files' columns, which does too.
const FILE_ROLES: &str = "file_roles";

/// `base` is what this window had when it last read or wrote the file, `mine` what it has now, and `theirs` the file. Where both
/// changed a field, this window is the later one. Fields that only the file has stay.
pub fn merge(base: &Content, mine: &Content, theirs: &Content) -> Content {
    let mut state: Map<String, Value> = theirs.state.clone();
    for (key, value) in &mine.state {
        let known = base.state.get(key);
        match theirs.state.get(key) {
            Some(there) if key == RECENT => _ = state.insert(key.clone(), together(known, value, there, State::RECENT, |path| path)),
            Some(there) if key == FILE_ROLES => {
                _ = state.insert(key.clone(), together(known, value, there, State::FILE_ROLES, |chosen| &chosen["path"]));
            }
            Some(_) if known == Some(value) => {}
            _ => _ = state.insert(key.clone(), value.clone()),
        }
    }
    let last = if mine.last == base.last { theirs.last.clone() } else { mine.last.clone() };
    Content { state, last }
}

/// This window's entries, then those that others added; without what others have forgotten since, and as others have changed them where
/// this window did not. Entries of one `key` are one.
fn together(base: Option<&Value>, mine: &Value, theirs: &Value, most: usize, key: impl Fn(&Value) -> &Value) -> Value {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (base, mine, theirs) = (base.map(list).unwrap_or_default(), list(mine), list(theirs));
    let of = |list: &[Value], entry: &Value| list.iter().find(|other| key(other) == key(entry)).cloned();
    let kept = mine.iter().filter_map(|entry| match (of(&base, entry), of(&theirs, entry)) {
        (Some(known), Some(changed)) if known == *entry => Some(changed),
        (Some(_), None) => None,
        _ => Some(entry.clone()),
    });
    let added = theirs.iter().filter(|entry| of(&mine, entry).is_none() && of(&base, entry).is_none()).cloned();
    Value::Array(kept.chain(added).take(most).collect())
}
