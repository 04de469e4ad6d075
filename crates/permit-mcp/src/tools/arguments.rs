//! A tool's arguments, read strictly.
//!
//! What is told of a wrong argument names one of our own fields; nothing that the caller wrote is
//! repeated, be it a value or the name of an argument that we do not know.

use std::fmt;

use permit_domain::InvalidId;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::message::Text;

/// One argument of a tool.
pub(crate) struct Argument {
    pub(crate) name: &'static str,
    pub(crate) required: bool,
    /// The bound on its length, in bytes.
    pub(crate) max_bytes: usize,
    pub(crate) description: &'static str,
}

/// Why the arguments were not taken.
#[derive(Debug)]
pub(crate) struct InvalidArguments {
    /// The argument, when it is one of ours.
    pub(crate) field: Option<&'static str>,
    pub(crate) message: String,
}

/// The arguments of one call, by the positions of a tool's own.
pub(crate) struct Arguments<'a, const N: usize> {
    known: &'static [Argument; N],
    given: Given<'a, N>,
}

struct Given<'a, const N: usize> {
    values: [Option<&'a RawValue>; N],
    repeated: Option<usize>,
    has_unknown: bool,
}

impl<'a, const N: usize> Arguments<'a, N> {
    /// Sorts the members of an object; without one there are none.
    pub(crate) fn read(known: &'static [Argument; N], raw: Option<&'a RawValue>) -> Self {
        let none = Given {
            values: [None; N],
            repeated: None,
            has_unknown: false,
        };
        let given = match raw {
            None => none,
            Some(raw) => serde_json::Deserializer::from_str(raw.get())
                .deserialize_map(Sort { known })
                // A name that is no Unicode text is none of ours.
                .unwrap_or(Given {
                    has_unknown: true,
                    ..none
                }),
        };
        Self { known, given }
    }

    /// The value of an argument that must be there.
    pub(crate) fn required<T>(
        &self,
        position: usize,
        parse: impl FnOnce(String) -> Result<T, InvalidId>,
    ) -> Result<T, InvalidArguments> {
        self.optional(position, parse)?
            .ok_or_else(|| self.invalid(position, "is missing"))
    }

    /// The value of an argument that may be left out. `null` is not leaving out.
    pub(crate) fn optional<T>(
        &self,
        position: usize,
        parse: impl FnOnce(String) -> Result<T, InvalidId>,
    ) -> Result<Option<T>, InvalidArguments> {
        if self.given.repeated == Some(position) {
            return Err(self.invalid(position, "is given twice"));
        }
        let Some(raw) = self.given.values[position] else {
            return Ok(None);
        };
        let text = Text::read(raw).ok_or_else(|| self.invalid(position, "must be a string"))?;
        let value = parse(text.into_owned());
        value
            .map(Some)
            .map_err(|invalid| self.invalid(position, invalid))
    }

    /// Refuses arguments that the tool does not know.
    pub(crate) fn finish(&self) -> Result<(), InvalidArguments> {
        if self.given.has_unknown {
            return Err(InvalidArguments {
                field: None,
                message: format!("Unknown argument. {}", self.accepted()),
            });
        }
        Ok(())
    }

    fn invalid(&self, position: usize, problem: impl fmt::Display) -> InvalidArguments {
        let name = self.known[position].name;
        InvalidArguments {
            field: Some(name),
            message: format!("`{name}` {problem}. {}", self.accepted()),
        }
    }

    fn accepted(&self) -> String {
        let names: Vec<_> = self
            .known
            .iter()
            .map(|argument| {
                let note = if argument.required { "" } else { " (optional)" };
                format!("`{}`{note}", argument.name)
            })
            .collect();
        format!("Accepted arguments, all strings: {}.", names.join(", "))
    }
}

struct Sort<const N: usize> {
    known: &'static [Argument; N],
}

impl<'de, const N: usize> Visitor<'de> for Sort<N> {
    type Value = Given<'de, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Given<'de, N>, A::Error> {
        let mut given = Given {
            values: [None; N],
            repeated: None,
            has_unknown: false,
        };
        while let Some(name) = map.next_key::<Text<'de>>()? {
            let position = self.known.iter().position(|known| name == known.name);
            match position {
                Some(position) => {
                    if given.values[position].replace(map.next_value()?).is_some() {
                        given.repeated = Some(position);
                    }
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                    given.has_unknown = true;
                }
            }
        }
        Ok(given)
    }
}
