//! Where each field of a file stands, for what is only found wrong after the file was read: a name that the catalog does
//! not know, a length that the model cannot take.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::read::join;

/// Values of a file by the path that a user would write: `where.clouds[2]`.
pub(crate) struct Places(BTreeMap<String, Range<usize>>);

impl Places {
    /// The places of a text. What could not be read has none.
    pub(crate) fn of(text: &str) -> Self {
        let (table, _) = DeTable::parse_recoverable(text);
        let mut places = BTreeMap::new();
        below("", table.get_ref(), &mut places);
        Self(places)
    }

    /// Whether the file states a field.
    pub(crate) fn states(&self, field: &str) -> bool {
        self.0.contains_key(field)
    }

    /// The place of a field; where the file leaves it out, that of the table or list around it, else of the kind.
    pub(crate) fn of_field(&self, field: &str) -> Range<usize> {
        let mut path = field;
        loop {
            if let Some(place) = self.0.get(path) {
                return place.clone();
            }
            match path.rfind(['.', '[']) {
                Some(end) => path = path.get(..end).unwrap_or_default(),
                None => return self.0.get("kind").cloned().unwrap_or(0..0),
            }
        }
    }
}

fn below(above: &str, table: &DeTable<'_>, places: &mut BTreeMap<String, Range<usize>>) {
    for (key, value) in table {
        note(join(above, key.get_ref()), value.span(), value.get_ref(), places);
    }
}

fn note(path: String, span: Range<usize>, value: &DeValue<'_>, places: &mut BTreeMap<String, Range<usize>>) {
    match value {
        DeValue::Table(table) => below(&path, table, places),
        DeValue::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                note(format!("{path}[{}]", index + 1), item.span(), item.get_ref(), places);
            }
        }
        _ => {}
    }
    places.insert(path, span);
}
