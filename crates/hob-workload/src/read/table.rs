//! The macro that declares the raw tables: one list gives the struct, its reader, its keys and its schema.

use crate::closest::closest;
use crate::problem::{Code, Problem};
use crate::raw;
use hob_text::Message;

use super::Reader;

/// The keys that a table takes.
pub(crate) trait KnownKeys {
    const KEYS: &'static [&'static str];
}

/// Declares raw tables. Each line is a doc comment (it becomes the schema's description), the field, its key, its type.
macro_rules! tables {
    ($(
        $(#[$meta:meta])*
        $name:ident {
            $($(#[$field_meta:meta])* $field:ident = $key:literal: $type:ty,)*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Default, schemars::JsonSchema)]
        #[schemars(deny_unknown_fields)]
        pub(crate) struct $name {
            $($(#[$field_meta])* #[schemars(rename = $key)] pub $field: Option<$crate::read::Located<$type>>,)*
        }

        impl $crate::read::KnownKeys for $name {
            const KEYS: &'static [&'static str] = &[$($key),*];
        }

        impl $crate::read::Read for $name {
            fn read(at: &$crate::read::At<'_, '_>, reader: &mut $crate::read::Reader) -> Option<Self> {
                let toml::de::DeValue::Table(table) = at.value else {
                    let expected = hob_text::Message::new("workload-expected-table");
                    return reader.wrong_form(at, expected.with("keys", Self::KEYS.join(", ")));
                };
                let mut read = Self::default();
                for (key, value) in table {
                    let field = $crate::read::join(&at.field, key.get_ref());
                    let below = $crate::read::At { value: value.get_ref(), span: value.span(), field };
                    match key.get_ref().as_ref() {
                        $($key => read.$field = reader.locate(below),)*
                        _ => reader.unknown_key(Self::KEYS, &at.field, key.get_ref(), key.span()),
                    }
                }
                Some(read)
            }
        }
    )*};
}
pub(crate) use tables;

impl Reader {
    /// Reports a key that its table does not take: a slip of the hand, a key of another table, or nothing known.
    pub(crate) fn unknown_key(&mut self, known: &[&'static str], table: &str, key: &str, span: std::ops::Range<usize>) {
        let field = super::join(table, key);
        if let Some(home) = raw::table_with_key(key).filter(|home| *home != table && !known.contains(&key)) {
            let hint = match home {
                "" => Message::new("workload-hint-move-to-top").with("key", key),
                home => Message::new("workload-hint-move-to-table").with("key", key).with("table", home),
            };
            let near = closest(key, known.iter().copied());
            let near = near.map(|near| Message::new("workload-hint-did-you-mean").with("suggestion", near));
            self.report(Problem::new(Code::Misplaced, span, field).with("key", key).hint(hint).hint(near));
            return;
        }
        let hint = match closest(key, known.iter().copied()) {
            Some(near) => Message::new("workload-hint-did-you-mean").with("suggestion", near),
            None => Message::new("workload-hint-known-keys").with("keys", known.join(", ")),
        };
        self.report(Problem::new(Code::UnknownKey, span, field).with("key", key).hint(hint));
    }
}
