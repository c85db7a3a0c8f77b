//! The boundary to the crate `parquet`: its errors in our words, and its panics as errors.

use std::any::Any;
use std::cell::Cell;
use std::io;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use ::parquet::errors::ParquetError;
use arrow_schema::ArrowError;
use regauge::{Error, ErrorKind, Result};

/// Runs code of the crate. It checks less than we do, so a file that is broken in a new way can make it panic:
/// that is an error about the file, and nothing else is printed about it.
pub fn guarded<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    thread_local! {
        static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
    }
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                hook(panic);
            }
        }));
    });
    let outer = IS_GUARDED.replace(true);
    let ran = catch_unwind(AssertUnwindSafe(run));
    IS_GUARDED.set(outer);
    ran.unwrap_or_else(|panic| Err(panicked(&*panic)))
}

#[cold]
fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
    Error::syntax(format!("found a broken file, on which the decoder stopped: {}", one_line(text)))
}

/// Returns an error about a batch as ours.
#[cold]
pub fn batch_failed(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, source) => source.into(),
        other => {
            let text = other.to_string();
            let text = text.trim_start_matches("Parquet argument error: ");
            let text = text.trim_start_matches("Parquet error: ");
            Error::syntax(format!("found a broken file: {}", one_line(text)))
        }
    }
}

/// Returns an error of the crate as ours.
#[cold]
pub fn failed(error: ParquetError) -> Error {
    let error = match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(io) => return (*io).into(),
            Err(source) => match source.downcast::<Error>() {
                Ok(ours) => return *ours,
                Err(source) => return Error::syntax(one_line(&source.to_string())),
            },
        },
        other => other,
    };
    match &error {
        ParquetError::EOF(text) => {
            Error::truncated(format!("found the end of the data too early: {}", one_line(text)))
        }
        ParquetError::NYI(text) => {
            Error::new(ErrorKind::Unsupported, format!("found {}", one_line(text)))
        }
        ParquetError::General(text) | ParquetError::ArrowError(text) => {
            Error::syntax(format!("found a broken file: {}", one_line(text)))
        }
        other => Error::syntax(format!("found a broken file: {}", one_line(&other.to_string()))),
    }
}

/// Returns the beginning of a message as one line.
fn one_line(text: &str) -> String {
    const SHOWN: usize = 200;
    let text = text.replace(['\n', '\t'], " ");
    let text = regauge::text::escape_hidden(&text);
    let mut line: String = text.chars().take(SHOWN).collect();
    if text.chars().nth(SHOWN).is_some() {
        line.push('…');
    }
    line
}
