//! What all columns of a table share: the policy, the place in the row, and the size of the rows.

use regauge::path::{Path, Step};
use regauge::{Error, OnLoss, Result, Value, json};

use crate::found::found;
use crate::losses::Lost;
use crate::{Losses, Words, misfit};

/// The bytes that nulls in columns of one length may fill up the rows of a batch to.
const PADDED_MAX: u64 = 512 << 20;

/// State shared by all columns.
pub(crate) struct State {
    pub on_loss: OnLoss,
    pub losses: Losses,
    pub words: &'static Words,
    /// The current position in the row.
    pub path: Vec<Step>,
    pub number: u64,
    pub bytes: u64,
}

impl State {
    /// Returns the error for a value that no column holds.
    #[cold]
    pub fn misfit(&self, value: &Value, expected: &str) -> Error {
        let message = format!("found {}, expected {expected}", found(value));
        let Words { schema, sample, approximate, .. } = self.words;
        misfit(message, self.number, &self.path).hint(format!(
            "pass {schema} with a type that holds it, {sample} to look at more documents first, or \
             {approximate} for a null in its place"
        ))
    }

    /// Records that something was not kept, if that is allowed.
    #[cold]
    pub fn lose(&mut self, lost: Lost, value: &Value, expected: &str) -> Result {
        if self.on_loss != OnLoss::Approximate {
            return Err(self.misfit(value, expected));
        }
        self.note(lost, value.type_name());
        Ok(())
    }

    #[cold]
    fn note(&self, lost: Lost, found: &'static str) {
        self.losses.note(lost, found, self.number, &self.path);
    }

    /// Records that a document lacks a field.
    pub fn lack(&mut self, field: &str) {
        if self.losses.is_strict() {
            self.path.push(Step::Key(field.into()));
            self.note(Lost::Absent, "nothing");
            self.path.pop();
        }
    }

    /// Records that a value became text or a number of another type, or lost a type that adds nothing to it.
    pub fn converted(&self, value: &Value, lost: Lost) {
        if self.losses.is_strict() {
            self.note(lost, value.type_name());
        }
    }

    /// Records that an integer became a double.
    pub fn doubled(&self, value: &Value) {
        if !matches!(value, Value::F64(_) | Value::F32(_)) {
            self.converted(value, Lost::Double);
        }
    }

    /// Returns an error if a key stands twice, unless that is allowed.
    #[cold]
    pub fn twice(&mut self, key: &str, value: &Value) -> Result {
        let expected = "each key once in a map, because a column has one value";
        let Words { approximate, .. } = self.words;
        self.lose_field(
            Lost::Key,
            key,
            value,
            expected,
            &format!("pass {approximate} to keep the last one"),
        )
    }

    /// Records that a field was left out because no column is for it, if that is allowed.
    #[cold]
    pub fn has_no_column(&mut self, field: &str, value: &Value) -> Result {
        let Words { schema, sample, approximate, .. } = self.words;
        let hint = format!(
            "pass {schema} with this field, {sample} to look at more documents first if there is no schema, or \
             {approximate} to leave it out"
        );
        self.lose_field(Lost::Field, field, value, "only fields that the schema has", &hint)
    }

    fn lose_field(
        &mut self,
        lost: Lost,
        field: &str,
        value: &Value,
        expected: &str,
        hint: &str,
    ) -> Result {
        self.path.push(Step::Key(field.into()));
        let result = match self.on_loss {
            OnLoss::Approximate => {
                self.note(lost, value.type_name());
                Ok(())
            }
            _ => {
                let message = format!("found {}, expected {expected}", found(value));
                Err(misfit(message, self.number, &self.path).hint(hint.to_owned()))
            }
        };
        self.path.pop();
        result
    }

    /// Returns a value as text of JSON, if the policy allows that.
    #[cold]
    pub fn as_json(&mut self, value: &Value) -> Result<String> {
        match self.on_loss {
            OnLoss::Refuse => {
                let Words { wrap, schema, .. } = self.words;
                return Err(self.misfit(value, "text").hint(format!(
                    "pass {wrap} to get it as text of JSON, or {schema} with a type that holds it"
                )));
            }
            OnLoss::Approximate => self.lose(Lost::Text, value, "text")?,
            OnLoss::Wrap => self.converted(value, Lost::Text),
        }
        let json = json::to_vec(value, OnLoss::Wrap)?;
        self.add_bytes(json.len());
        Ok(String::from_utf8_lossy(&json).into_owned())
    }

    /// Adds to the size of the rows.
    pub fn add_bytes(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    /// Adds to the size of the rows what nulls take in columns of one length, before they are added: a schema may
    /// ask for any length.
    ///
    /// # Errors
    /// `Limit` if the rows would take too much memory.
    pub fn pad(&mut self, bytes: u64) -> Result {
        self.bytes = self.bytes.saturating_add(bytes);
        match bytes > 0 && self.bytes > PADDED_MAX {
            true => Err(self.too_long()),
            false => Ok(()),
        }
    }

    #[cold]
    fn too_long(&self) -> Error {
        let message = format!(
            "found nulls in columns of one length, which take more than {} MiB with what stands before them",
            PADDED_MAX >> 20
        );
        let error = Error::limit(message).in_record(self.number).at_path(Path(self.path.clone()));
        error.hint(format!("pass {} with shorter lengths", self.words.schema))
    }
}
