//! A filter between the reader and the writer of a conversion.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use jaq_core::Vars;
use regauge::stage;
use regauge::{
    BigInt, Error, ErrorKind, Ext, Fidelity, Format, Path, Result, Sink, Type, Value, Writer,
};

use crate::compile::Filter;
use crate::each::{Each, Walk};
use crate::guard;
use crate::marc;
use crate::needs::{Needs, Pruned};
use crate::val::Val;

/// How a filter is run over the documents of a conversion.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Run it once, over an array of all documents.
    pub slurp: bool,
    /// Run it once, over null. The documents are there for `input` and `inputs`.
    pub null_input: bool,
    /// Write the keys of maps in order.
    pub sort_keys: bool,
    /// Run it over each element at a path, and hold only that in memory.
    pub each: Option<Each>,
    /// Note whether the last output was true: see [`Stage::last`]. Documents then go through one
    /// after the other.
    pub note_last: bool,
    /// How long it may take for a document.
    pub time: Option<Duration>,
    /// Take numbers with a fraction in the filter as decimals, exactly as they are written.
    pub exact_numbers: bool,
}

/// A filter with its settings, for [`regauge::Options::stage`].
#[derive(Debug)]
pub struct Stage {
    pub(crate) filter: Filter,
    pub(crate) settings: Settings,
    last: AtomicU8,
}

/// What the last output was.
const NONE: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;

impl Filter {
    /// Makes a stage of a conversion.
    #[must_use]
    pub fn into_stage(self, settings: Settings) -> Stage {
        Stage { filter: self, settings, last: AtomicU8::new(NONE) }
    }
}

impl Stage {
    /// Returns whether the last output was something else than false and null; `None` without
    /// output.
    pub fn last(&self) -> Option<bool> {
        match self.last.load(Ordering::Relaxed) {
            NONE => None,
            last => Some(last == TRUE),
        }
    }

    /// Returns whether the filter reads the documents itself, with `input` or `inputs`, so that
    /// [`Stage::pull`] has to run it.
    pub fn reads_inputs(&self) -> bool {
        self.filter.reads_inputs()
    }

    /// Returns whether the filter runs over null, and no document is read.
    pub fn reads_nothing(&self) -> bool {
        self.settings.null_input && !self.reads_inputs()
    }

    /// Runs the filter over a document within the limit of time, and returns its outputs.
    ///
    /// # Errors
    /// As [`Filter::run`].
    pub fn over(&self, document: &Value) -> Result<Vec<Value>> {
        let Settings { time, exact_numbers, .. } = self.settings;
        guard::run_within(time, || {
            let mut outputs = Vec::new();
            self.filter.over_one(
                exact_numbers,
                self.filter.vars(),
                Val::from(document),
                &mut |output| {
                    self.note(output);
                    outputs.push(Value::from(output));
                    Ok(())
                },
            )?;
            Ok(outputs)
        })
    }

    pub(crate) fn note(&self, output: &Val) {
        if self.settings.note_last {
            let last = if jaq_core::ValT::as_bool(output) { TRUE } else { FALSE };
            self.last.store(last, Ordering::Relaxed);
        }
    }
}

impl stage::Stage for Stage {
    fn open<'w>(&'w self, mut inner: Box<dyn Writer + 'w>, to: Format) -> Box<dyn Writer + 'w> {
        inner.fidelity().note_filter();
        let through = Through {
            stage: self,
            to,
            builder: Pruned::new(match self.settings.slurp {
                true => Needs::whole(),
                false => &self.filter.needs,
            }),
            vars: self.filter.vars(),
            slurped: Vec::new(),
            inner,
        };
        match &self.settings.each {
            Some(each) => Box::new(Walk::new(each, through)),
            None => Box::new(through),
        }
    }

    fn is_divisible(&self) -> bool {
        let Settings { slurp, null_input, note_last, .. } = self.settings;
        !slurp && !null_input && !note_last
    }

    fn stack_bytes(&self) -> usize {
        guard::STACK_BYTES
    }

    fn begin_thread(&self) {
        guard::begin_thread();
    }

    fn places_errors(&self) -> bool {
        true
    }
}

/// Adds a path to an error of a document that has none.
#[cold]
pub(crate) fn placed(error: Error, path: Path) -> Error {
    match error.path().is_none() && error.kind() != ErrorKind::Io {
        true => error.at_path(path),
        false => error,
    }
}

/// Returns an output as this format takes it: MARC has no field and no subfield without a value, which
/// is what a deleted one leaves.
pub(crate) fn for_format(output: &Val, to: Format) -> Val {
    if to.is_marc() { marc::without_emptied(output) } else { output.clone() }
}

/// Collects a document, and sends on what the filter makes of it.
pub(crate) struct Through<'w> {
    stage: &'w Stage,
    to: Format,
    pub builder: Pruned<'w>,
    vars: Vars<Val>,
    slurped: Vec<Val>,
    inner: Box<dyn Writer + 'w>,
}

impl Through<'_> {
    /// Runs the filter over a value.
    fn run(&mut self, val: Val) -> Result {
        let Through { stage, to, vars, inner, .. } = self;
        let Settings { time, exact_numbers, .. } = stage.settings;
        guard::run_within(time, || {
            stage.filter.over_one(exact_numbers, vars.clone(), val, &mut |output| {
                stage.note(output);
                let whole = for_format(output, *to);
                let sent = whole.drive(&mut **inner, stage.settings.sort_keys);
                let ended = sent.and_then(|()| inner.end_document());
                ended.map_err(|error| placed(error, Path::default()))
            })
        })
    }

    /// Takes the finished value.
    pub fn end_value(&mut self) -> Result {
        match self.builder.take() {
            Some(_) if self.stage.settings.null_input => Ok(()),
            Some(val) if self.stage.settings.slurp => {
                self.slurped.push(val);
                Ok(())
            }
            Some(val) => self.run(val),
            None => Ok(()),
        }
    }
}

/// Passes events on to the builder.
macro_rules! build {
    () => { $crate::stage::build! {
        null(); bool(v: bool); i64(v: i64); u64(v: u64); f64(v: f64); f32(v: f32); str(v: &str);
        bytes(v: &[u8]); big_int(v: BigInt<'_>); ext(v: Ext<'_>); begin_array(len: Option<u64>);
        end_array(); begin_map(len: Option<u64>); key(k: &str); key_value(k: &Value); end_map();
        begin_typed(t: &Type<'_>); end_typed();
    } };
    ($($method:ident($($name:ident: $type:ty)?);)*) => {
        $(
            fn $method(&mut self $(, $name: $type)?) -> Result {
                self.builder.$method($($name)?)
            }
        )*
    };
}
pub(crate) use build;

impl Sink for Through<'_> {
    build!();

    fn holds_references(&mut self) -> bool {
        false
    }

    fn fidelity(&mut self) -> &mut Fidelity {
        self.inner.fidelity()
    }
}

impl Writer for Through<'_> {
    fn end_document(&mut self) -> Result {
        self.end_value().map_err(|error| placed(error, Path::default()))
    }

    fn finish(&mut self) -> Result {
        let ran = if self.stage.settings.null_input {
            self.run(Val::Null)
        } else if self.stage.settings.slurp {
            let all = std::mem::take(&mut self.slurped);
            guard::run(|| Ok(Val::array(all))).and_then(|all| self.run(all))
        } else {
            Ok(())
        };
        ran.map_err(|error| placed(error, Path::default()))?;
        self.inner.finish()
    }

    fn checkpoint(&mut self) {
        self.inner.checkpoint();
    }

    fn rollback(&mut self) {
        self.builder.clear();
        self.inner.rollback();
    }

    fn columns(&mut self, row: &Value) -> Result {
        self.inner.columns(row)
    }
}
