//! A map that keeps the order in which entries were put.

use std::collections::{BTreeMap, HashMap};

pub(crate) struct Ordered<T> {
    entries: HashMap<String, (u64, T)>,
    order: BTreeMap<u64, String>,
    next: u64,
}

impl<T> Ordered<T> {
    pub fn new() -> Self {
        Self {
            entries: HashMap::new(),
            order: BTreeMap::new(),
            next: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        self.entries.get_mut(name).map(|(_, value)| value)
    }

    /// Adds an entry at the end. Returns the one that had the name before.
    pub fn put(&mut self, name: &str, value: T) -> Option<T> {
        let place = self.next;
        self.next += 1;
        self.order.insert(place, name.into());
        let (before, value) = self.entries.insert(name.into(), (place, value))?;
        self.order.remove(&before);
        Some(value)
    }

    pub fn first(&self) -> Option<&T> {
        let name = self.order.values().next()?;
        self.entries.get(name).map(|(_, value)| value)
    }

    pub fn remove_first(&mut self) -> Option<T> {
        let (_, name) = self.order.pop_first()?;
        self.entries.remove(&name).map(|(_, value)| value)
    }

    /// Visits the entries in their order, while `visit` returns true.
    pub fn visit(&mut self, mut visit: impl FnMut(&mut T) -> bool) {
        for name in self.order.values() {
            if !self
                .entries
                .get_mut(name)
                .is_none_or(|(_, value)| visit(value))
            {
                break;
            }
        }
    }
}
