//! Selections that were given a name, to be had again.

use std::sync::Arc;

/// The most sets that are kept.
const MOST: usize = 100;

/// The most characters of a name.
const LONGEST: usize = 80;

/// Rows of the cloud under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedSet {
    pub name: String,
    /// Ascending.
    pub rows: Arc<[u32]>,
}

/// The sets of the cloud that is shown, the oldest first.
#[derive(Clone, Debug, Default)]
pub struct NamedSets {
    /// The name of the next one as it is typed.
    pub typed: String,
    list: Vec<NamedSet>,
}

impl NamedSets {
    pub fn of(list: Vec<NamedSet>) -> Self {
        Self { typed: String::new(), list }
    }

    pub fn list(&self) -> &[NamedSet] {
        &self.list
    }

    /// Keeps rows under a name, in place of those that had it before; the name is what was typed, or what says how they were chosen.
    ///
    /// # Errors
    /// A sentence where there are no rows, or too many sets.
    pub fn keep(&mut self, rows: &Arc<[u32]>, by: &str) -> Result<&NamedSet, String> {
        if rows.is_empty() {
            return Err("nothing to keep: no row of the cloud is selected".to_owned());
        }
        let typed = if self.typed.trim().is_empty() { by.trim() } else { self.typed.trim() };
        let name: String = typed.chars().take(LONGEST).collect();
        let set = NamedSet { name, rows: Arc::clone(rows) };
        let at = match self.list.iter().position(|known| known.name == set.name) {
            Some(at) => at,
            None if self.list.len() == MOST => return Err(format!("{MOST} sets are kept already; forget one first")),
            None => self.list.len(),
        };
        self.typed.clear();
        if at == self.list.len() {
            self.list.push(set)
        } else {
            self.list[at] = set
        }
        Ok(&self.list[at])
    }

    pub fn forget(&mut self, name: &str) {
        self.list.retain(|set| set.name != name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_set() {
        let mut sets = NamedSets::default();
        let rows = |rows: &[u32]| Arc::<[u32]>::from(rows);
        assert!(sets.keep(&rows(&[]), "lasso in Plane").is_err_and(|why| why.starts_with("nothing to keep")));
        sets.typed = " far ".to_owned();
        assert_eq!(sets.keep(&rows(&[1, 2]), "lasso in Plane").map(|set| set.name.clone()), Ok("far".to_owned()));
        assert_eq!(
            (sets.keep(&rows(&[3]), "lasso in Plane").map(|set| set.name.clone()), sets.typed.as_str()),
            (Ok("lasso in Plane".to_owned()), "")
        );
        sets.typed = "far".to_owned();
        sets.keep(&rows(&[7]), "").expect("in place of the first");
        assert_eq!(sets.list().iter().map(|set| set.rows.to_vec()).collect::<Vec<_>>(), [vec![7], vec![3]]);
        sets.forget("far");
        assert_eq!(sets.list().len(), 1);
        for number in 1..MOST {
            sets.typed = number.to_string();
            sets.keep(&rows(&[1]), "").expect("room");
        }
        sets.typed = "one more".to_owned();
        assert!(sets.keep(&rows(&[1]), "").is_err_and(|why| why.contains("100 sets")));
    }
}
