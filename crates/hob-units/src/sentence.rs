//! Sentences as data, for rooms that do not know the message catalogue.
//!
//! A room below the catalogue says what is wrong by an id and by the figures that belong to it. Which words that makes, and
//! in which language, is decided where it is shown. [`sentences!`](crate::sentences) declares a room's sentences in one
//! table, so that a test of the catalogue can walk it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

/// An id of the message catalogue with its figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sentence {
    /// Stable id: `estimate-no-rate`.
    pub id: &'static str,
    /// What its words have a place for, by name.
    #[serde(serialize_with = "by_name")]
    pub figures: Vec<(&'static str, Figure)>,
}

/// What stands at one place of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Figure {
    /// A number or a name, which reads the same in every language.
    Text(String),
    /// Words of their own.
    Sentence(Sentence),
}

fn by_name<S: Serializer>(figures: &[(&'static str, Figure)], serializer: S) -> Result<S::Ok, S::Error> {
    let by_name: BTreeMap<&str, &Figure> = figures.iter().map(|(name, figure)| (*name, figure)).collect();
    by_name.serialize(serializer)
}

/// An id and the names of its figures.
pub type SentenceForm = (&'static str, &'static [&'static str]);

/// What can stand in a sentence.
pub trait Say {
    /// As it stands there.
    fn say(&self) -> Figure;
}

macro_rules! plain {
    ($($type:ty),*) => {
        $(impl Say for $type {
            fn say(&self) -> Figure {
                Figure::Text(self.to_string())
            }
        })*
    };
}

plain!(String, &'static str, bool, char, u8, u16, u32, u64, u128, usize, i32, i64, f64);

impl fmt::Display for Sentence {
    /// For developers: `estimate-layout-heads (heads: 30, ranks: 8)`. Users read the catalogue's words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)?;
        for (place, (name, figure)) in self.figures.iter().enumerate() {
            let separator = if place == 0 { " (" } else { ", " };
            match figure {
                Figure::Text(text) => write!(f, "{separator}{name}: {text}")?,
                Figure::Sentence(inner) => write!(f, "{separator}{name}: {inner}")?,
            }
        }
        if self.figures.is_empty() { Ok(()) } else { f.write_str(")") }
    }
}

/// Declares a room's sentences: closed types whose variants have an id and named figures, and `SENTENCES`, the table of
/// all of them.
///
/// ```
/// use hob_units::{Say, sentences};
///
/// sentences! {
///     /// Why there is no soup.
///     pub enum Soup {
///         Cold { degrees: u32 } = "soup-cold",
///         Nobody {} = "soup-nobody",
///     }
/// }
/// assert_eq!(Soup::Cold { degrees: 20 }.to_string(), "soup-cold (degrees: 20)");
/// assert_eq!(SENTENCES, &[("soup-cold", &["degrees"][..]), ("soup-nobody", &[][..])]);
/// ```
#[macro_export]
macro_rules! sentences {
    ($(
        $(#[$about:meta])*
        pub enum $name:ident {
            $($(#[$doc:meta])* $variant:ident { $($figure:ident: $type:ty),* $(,)? } = $id:literal),* $(,)?
        }
    )*) => {
        /// Every sentence of this room.
        pub const SENTENCES: &[$crate::SentenceForm] = &[$($(($id, &[$(stringify!($figure)),*])),*),*];

        $(
            $(#[$about])*
            #[derive(Debug, Clone, PartialEq, Eq)]
            #[allow(missing_docs)] // The ids and the catalogue say it.
            pub enum $name {
                $($(#[$doc])* $variant { $($figure: $type),* }),*
            }

            impl $name {
                /// Its id and figures.
                #[must_use]
                pub fn sentence(&self) -> $crate::Sentence {
                    match self {
                        $(Self::$variant { $($figure),* } => $crate::Sentence {
                            id: $id,
                            figures: vec![$((stringify!($figure), $crate::Say::say($figure))),*],
                        }),*
                    }
                }
            }

            impl $crate::Say for $name {
                fn say(&self) -> $crate::Figure {
                    $crate::Figure::Sentence(self.sentence())
                }
            }

            impl ::std::fmt::Display for $name {
                fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                    self.sentence().fmt(f)
                }
            }

            impl ::std::error::Error for $name {}
        )*
    };
}
