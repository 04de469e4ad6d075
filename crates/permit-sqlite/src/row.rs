//! Between columns and the domain's values. What does not fit is an error, never a guess.

use permit_domain::{OptionId, OptionKind};
use permit_policy::SecretHash;
use rusqlite::Row;
use rusqlite::types::FromSql;
use serde::Deserialize;
use serde::de::IntoDeserializer as _;
use serde::de::value::Error as ValueError;
use time::OffsetDateTime;

use crate::Fault;

/// A row whose columns are named in its query.
pub(crate) struct Columns<'a, 'stmt>(pub(crate) &'a Row<'stmt>);

type Name = &'static str;

impl Columns<'_, '_> {
    /// An id of our own making, or a text that must be one.
    pub(crate) fn id<T: TryFrom<String>>(&self, name: Name) -> Result<T, Fault> {
        let text: String = self.raw(name)?;
        T::try_from(text).map_err(|_| Fault::Corrupt(name))
    }

    pub(crate) fn optional_id<T: TryFrom<String>>(&self, name: Name) -> Result<Option<T>, Fault> {
        let text: Option<String> = self.raw(name)?;
        let id = text.map(T::try_from).transpose();
        id.map_err(|_| Fault::Corrupt(name))
    }

    /// An id that a provider made.
    pub(crate) fn provider_id<T: TryFrom<String>>(&self, name: Name) -> Result<T, Fault> {
        let id = self.optional_provider_id(name)?;
        id.ok_or(Fault::Corrupt(name))
    }

    pub(crate) fn optional_provider_id<T: TryFrom<String>>(
        &self,
        name: Name,
    ) -> Result<Option<T>, Fault> {
        let id = self.bytes(name)?.map(T::try_from).transpose();
        id.map_err(|_| Fault::Corrupt(name))
    }

    pub(crate) fn option_id(&self, name: Name) -> Result<Option<OptionId>, Fault> {
        Ok(self.bytes(name)?.map(OptionId::offered))
    }

    pub(crate) fn option_kind(&self, name: Name) -> Result<Option<OptionKind>, Fault> {
        Ok(self.bytes(name)?.map(OptionKind::new))
    }

    pub(crate) fn text(&self, name: Name) -> Result<String, Fault> {
        self.raw(name)
    }

    pub(crate) fn optional_text(&self, name: Name) -> Result<Option<String>, Fault> {
        self.raw(name)
    }

    /// One of the domain's words, such as a result or a source.
    pub(crate) fn word<T: for<'de> Deserialize<'de>>(&self, name: Name) -> Result<T, Fault> {
        self.optional_word(name)?.ok_or(Fault::Corrupt(name))
    }

    pub(crate) fn optional_word<T: for<'de> Deserialize<'de>>(
        &self,
        name: Name,
    ) -> Result<Option<T>, Fault> {
        let text: Option<String> = self.raw(name)?;
        let word = |text: String| {
            let word: Result<T, ValueError> = T::deserialize(text.into_deserializer());
            word.map_err(|_| Fault::Corrupt(name))
        };
        text.map(word).transpose()
    }

    pub(crate) fn json<T: for<'de> Deserialize<'de>>(&self, name: Name) -> Result<T, Fault> {
        self.optional_json(name)?.ok_or(Fault::Corrupt(name))
    }

    pub(crate) fn optional_json<T: for<'de> Deserialize<'de>>(
        &self,
        name: Name,
    ) -> Result<Option<T>, Fault> {
        let text: Option<String> = self.raw(name)?;
        // The cause may quote what is stored.
        let parse = |text: String| serde_json::from_str(&text).map_err(|_| Fault::Corrupt(name));
        text.map(parse).transpose()
    }

    pub(crate) fn time(&self, name: Name) -> Result<OffsetDateTime, Fault> {
        self.optional_time(name)?.ok_or(Fault::Corrupt(name))
    }

    pub(crate) fn optional_time(&self, name: Name) -> Result<Option<OffsetDateTime>, Fault> {
        let micros: Option<i64> = self.raw(name)?;
        let time = |micros: i64| {
            let time = OffsetDateTime::from_unix_timestamp_nanos(i128::from(micros) * 1000);
            time.map_err(|_| Fault::Corrupt(name))
        };
        micros.map(time).transpose()
    }

    pub(crate) fn count(&self, name: Name) -> Result<u64, Fault> {
        let count: i64 = self.raw(name)?;
        u64::try_from(count).map_err(|_| Fault::Corrupt(name))
    }

    pub(crate) fn seq(&self, name: Name) -> Result<i64, Fault> {
        self.raw(name)
    }

    pub(crate) fn hash(&self, name: Name) -> Result<SecretHash, Fault> {
        self.raw(name).map(SecretHash::from_bytes)
    }

    fn bytes(&self, name: Name) -> Result<Option<String>, Fault> {
        let bytes: Option<Vec<u8>> = self.raw(name)?;
        let text = bytes.map(String::from_utf8).transpose();
        text.map_err(|_| Fault::Corrupt(name))
    }

    fn raw<T: FromSql>(&self, name: Name) -> Result<T, Fault> {
        Ok(self.0.get(name)?)
    }
}

/// A time as it is stored: UTC, in microseconds since 1970.
pub(crate) fn micros(time: OffsetDateTime, name: Name) -> Result<i64, Fault> {
    let micros = time.unix_timestamp_nanos().div_euclid(1000);
    i64::try_from(micros).map_err(|_| Fault::OutOfRange(name))
}

/// A time as it is stored, if there is one.
pub(crate) fn optional_micros(
    time: Option<OffsetDateTime>,
    name: Name,
) -> Result<Option<i64>, Fault> {
    time.map(|time| micros(time, name)).transpose()
}

/// A value as JSON.
pub(crate) fn json<T: serde::Serialize>(value: &T, name: Name) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|_| Fault::OutOfRange(name))
}

/// A limit as SQL takes it.
pub(crate) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
