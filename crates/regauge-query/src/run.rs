//! Running a filter.

use jaq_core::data::HasLut;
use jaq_core::{Ctx, DataT, Exn, Lut, Vars};
use jaq_std::input::{HasInputs, Inputs, RcIter};
use regauge::text::escape_hidden_in_lines;
use regauge::{Error, ErrorKind, Result};

use crate::compile::Filter;
use crate::guard;
use crate::val::{self, Val};

/// The kinds of data that filters work on.
pub(crate) struct Kind;

impl DataT for Kind {
    type V<'a> = Val;
    type Data<'a> = &'a Data<'a>;
}

/// What a run shares.
pub(crate) struct Data<'a> {
    lut: &'a Lut<Kind>,
    inputs: Inputs<'a, Val>,
    stack_floor: usize,
}

impl<'a> Data<'a> {
    pub fn new(filter: &'a Filter, inputs: Inputs<'a, Val>) -> Data<'a> {
        Data { lut: &filter.code.lut, inputs, stack_floor: guard::stack_floor() }
    }

    pub fn inputs(&self) -> Inputs<'a, Val> {
        self.inputs
    }
}

impl<'a> HasLut<'a, Kind> for &'a Data<'a> {
    /// jaq calls this for every term that it evaluates, so it is the place to watch the stack.
    #[inline]
    fn lut(&self) -> &'a Lut<Kind> {
        guard::check_stack(self.stack_floor);
        self.lut
    }
}

impl<'a> HasInputs<'a, Val> for &'a Data<'a> {
    fn inputs(&self) -> Inputs<'a, Val> {
        self.inputs
    }
}

/// The longest text of a message; a value in it may be a whole document.
const MESSAGE_MAX: usize = 300;

/// Returns the error that a filter has raised.
#[cold]
pub(crate) fn failure(message: &str) -> Error {
    let head: String = message.chars().take(MESSAGE_MAX).collect();
    let mut shown = escape_hidden_in_lines(&head).into_owned();
    if message.chars().nth(MESSAGE_MAX).is_some() {
        shown.push('…');
    }
    Error::new(ErrorKind::Data, format!("the filter failed: {shown}"))
}

#[cold]
pub(crate) fn raised(exception: Exn<'_, Val>) -> Error {
    match exception.get_err() {
        Ok(error) => match error.into_val() {
            val if val.text().is_some() => failure(val.text().unwrap_or_default()),
            val => failure(&format!("{val} (not a text)")),
        },
        Err(_) => failure("it called `halt`, which regauge does not support"),
    }
}

impl Filter {
    /// Returns the variables, for a run on this thread.
    pub(crate) fn vars(&self) -> Vars<Val> {
        Vars::new(self.variables.iter().map(Val::from))
    }

    /// Runs the filter over one document that reads no others. `exact_numbers` is as in
    /// [`Settings`](crate::Settings::exact_numbers).
    pub(crate) fn over_one(
        &self,
        exact_numbers: bool,
        vars: Vars<Val>,
        document: Val,
        emit: &mut dyn FnMut(&Val) -> Result,
    ) -> Result {
        val::number::set_exact(exact_numbers);
        let inputs = RcIter::new(std::iter::empty());
        let data = Data::new(self, &inputs);
        for output in self.code.id.run((Ctx::<Kind>::new(&data, vars), document)) {
            emit(&output.map_err(raised)?)?;
        }
        Ok(())
    }
}

/// Returns the text of an error as `catch` sees it.
pub(crate) fn error(message: impl std::fmt::Display) -> val::Error {
    val::Error::str(message)
}
