//! Filters that read the documents themselves, with `input` or `inputs`: one thread reads, another one filters.

use std::cell::{Cell, RefCell};
use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use jaq_core::Ctx;
use jaq_std::input::RcIter;
use regauge::convert::Summary;
use regauge::hint::Surface;
use regauge::tree::Builder;
use regauge::values::write_each;
use regauge::{
    BigInt, Error, ErrorKind, Ext, Fidelity, Limits, Options, Output, Result, Sink, Type, Value,
    Writer,
};

use crate::guard;
use crate::run::{self, Data, Kind};
use crate::stage::{Stage, build, for_format};
use crate::val::{Val, number};

/// How many documents are read ahead of the filter.
const AHEAD: usize = 4;

/// Takes the documents that a filter reads itself: what [`Stage::pull`] gives to its reader.
pub struct Feed {
    builder: Builder,
    limits: Limits,
    documents: SyncSender<std::result::Result<Value, String>>,
    /// Whether the filter has ended, so that no more documents are needed.
    is_over: bool,
}

fn builder(limits: &Limits) -> Builder {
    let mut builder = Builder::new(limits);
    builder.fidelity().note_filter();
    builder
}

impl Sink for Feed {
    build!();

    fn holds_references(&mut self) -> bool {
        false
    }

    fn fidelity(&mut self) -> &mut Fidelity {
        self.builder.fidelity()
    }
}

impl Writer for Feed {
    fn end_document(&mut self) -> Result {
        let Some(document) = self.builder.take() else {
            return Err(Error::new(ErrorKind::Data, "found a document without a value"));
        };
        self.documents.send(Ok(document)).map_err(|_| {
            self.is_over = true;
            // Of a kind whose place in the input is not looked up.
            Error::from(io::Error::other("the filter has ended"))
        })
    }

    fn finish(&mut self) -> Result {
        Ok(())
    }

    fn checkpoint(&mut self) {}

    fn rollback(&mut self) {
        self.builder = builder(&self.limits);
    }
}

impl Stage {
    /// Runs a filter that reads the documents itself, and writes its outputs with `options`. `read` reads the documents
    /// into a sink, on a thread of its own. Call it on a [large stack](crate::on_large_stack).
    ///
    /// # Errors
    /// Those of `read`, of the filter and of writing.
    pub fn pull<'a>(
        &self,
        read: impl FnOnce(&mut Feed) -> Result<Summary> + Send,
        output: impl Output + Send + 'a,
        options: &Options,
    ) -> Result<Summary> {
        let limits = options.limits;
        std::thread::scope(|scope| {
            let (documents, received) = sync_channel(AHEAD);
            let reading = scope.spawn(move || read_into(documents, limits, read));
            let met_error = Cell::new(false);
            let written = self.pull_from(&received, &met_error, output, options);
            drop(received);
            match reading.join().unwrap_or_else(|panic| resume_unwind(panic)) {
                Err(error) if met_error.get() => Err(error),
                Ok(Some(Summary { bad_records, matches, .. })) => {
                    Ok(Summary { bad_records, matches, ..written? })
                }
                // What follows the last document that the filter asked for does not matter.
                Ok(None) | Err(_) => written,
            }
        })
    }

    /// Runs the filter over documents that another thread reads, and notes whether it met an error of the reader.
    fn pull_from<'a>(
        &self,
        received: &Receiver<std::result::Result<Value, String>>,
        met_error: &Cell<bool>,
        output: impl Output + Send + 'a,
        options: &Options,
    ) -> Result<Summary> {
        number::set_exact(self.settings.exact_numbers);
        let documents = received.iter().map(|document| {
            met_error.set(document.is_err());
            document.map(|one| Val::from(&one))
        });
        let inputs = RcIter::new(documents);
        let data = Data::new(&self.filter, &inputs);
        let vars = self.filter.vars();
        let start =
            |document| self.filter.code.id.run((Ctx::<Kind>::new(&data, vars.clone()), document));
        let mut outputs = self.settings.null_input.then(|| start(Val::Null));
        let failed = RefCell::new(None);
        let mut next = || loop {
            if let Some(output) = outputs.as_mut().and_then(Iterator::next) {
                let output = output.map_err(run::raised)?;
                self.note(&output);
                let output = for_format(&output, options.to);
                let output = if self.settings.sort_keys { output.sorted() } else { output };
                return Ok(Some(Value::from(&output)));
            }
            if self.settings.null_input {
                return Ok(None);
            }
            match Iterator::next(&mut data.inputs()) {
                Some(Ok(document)) => outputs = Some(start(document)),
                Some(Err(message)) => return Err(run::failure(&message)),
                None => return Ok(None),
            }
        };
        let written = write_each(
            || {
                guard::run_within(self.settings.time, &mut next).map_err(|error| {
                    let stand_in = Error::new(error.kind(), "the filter failed");
                    *failed.borrow_mut() = Some(error);
                    stand_in
                })
            },
            output,
            options,
        );
        failed.take().map_or(written, Err)
    }
}

/// Reads the documents; returns nothing if the filter did not want all of them.
fn read_into(
    documents: SyncSender<std::result::Result<Value, String>>,
    limits: Limits,
    read: impl FnOnce(&mut Feed) -> Result<Summary>,
) -> Result<Option<Summary>> {
    let builder = builder(&limits);
    let mut feed = Feed { builder, limits, documents, is_over: false };
    match read(&mut feed) {
        Ok(summary) => Ok(Some(summary)),
        Err(_) if feed.is_over => Ok(None),
        Err(error) => {
            // The filter sees it where it asks for the next document.
            let _ = feed.documents.send(Err(error.display(&Surface::COMMAND).to_string()));
            Err(error)
        }
    }
}
