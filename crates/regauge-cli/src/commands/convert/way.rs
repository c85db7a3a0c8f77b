//! The ways from an input to an output with a table at either end.

use std::io::{self, Read};
use std::sync::Arc;

use regauge::convert::{Options, Summary, read};
use regauge::documents::Documents;
use regauge::options::Envelopes;
use regauge::reader::Skipped;
use regauge::{Error, Format, OnLoss};
use regauge_query::Stage;

use super::Aside;
use crate::args::{Bad, Convert};
use crate::failure::{Failure, Result};
use crate::input::Source;
use crate::output::Outlet;
use crate::tables::{Asked, Form, Plan, Rows, Table, from_table, read_table};

/// How the documents get from the input to the output, if one of them is a table.
pub enum Way {
    /// From the rows of a table to a format.
    FromTable(Box<dyn Rows>),
    /// To a table; from the rows of another, if it is given.
    ToTable(Box<dyn Plan>, Option<Box<dyn Rows>>),
}

impl Way {
    /// Opens the tables at both ends, and adapts the options; `None` if there are none.
    ///
    /// # Errors
    /// Those of [`Table::open`] and [`Table::plan`], and `Usage` for options that a table does not follow.
    pub fn choose(
        arguments: &Convert,
        source: &Arc<Source>,
        to: Form,
        options: &mut Options,
        filter: Option<&Stage>,
    ) -> Result<Option<Way>> {
        let rows = source.table.map(|table| table.open(source, &options.limits)).transpose()?;
        if let Some(table) = source.table.filter(|_| arguments.bad != Bad::Stop) {
            return Err(Failure::usage(format!(
                "--bad is for the broken records of a stream, and {} has none",
                table.title
            )));
        }
        let Form::Table(table) = to else {
            return Ok(rows.map(Way::FromTable));
        };
        refuse_for_tables(arguments, table)?;
        if options.envelope == Envelopes::Keep {
            return Err(Failure::usage(format!(
                "--envelope keep puts the envelope around the output, and {} has none; pass --envelope open",
                table.title
            )));
        }
        let asked = Asked {
            flags: &arguments.parquet,
            compress: arguments.compress,
            level: arguments.level,
            on_loss: options.on_loss,
            is_marc: source.format.gives_records() && filter.is_none() && options.select.is_empty(),
            limits: options.limits,
        };
        let plan = table.plan(&asked)?;
        // The columns decide what is lost, so everything has to reach them as it is.
        options.on_loss = OnLoss::Refuse;
        options.jobs = 1;
        if options.documents == Documents::Auto {
            options.documents = rows_of(source.format);
        }
        Ok(Some(Way::ToTable(plan, rows)))
    }

    /// Runs the conversion.
    ///
    /// # Errors
    /// Those of reading, and of writing.
    pub fn run(
        &mut self,
        source: &Source,
        outlet: &mut Outlet,
        options: &Options,
        aside: &mut Aside,
    ) -> std::result::Result<Summary, Error> {
        match self {
            Way::FromTable(rows) => from_table(&mut **rows, outlet, options),
            Way::ToTable(plan, rows) => plan.write(outlet, options, &mut |mut sink| match rows {
                Some(rows) => read_table(&mut **rows, options, sink),
                None => read_source(source, &mut sink, options, aside),
            }),
        }
    }
}

/// Returns what the rows of a table are in a file of this format: its documents if it is a stream of records, and
/// otherwise the elements of an array.
fn rows_of(format: Format) -> Documents {
    match format {
        Format::Ndjson | Format::Bson => Documents::Keep,
        format if format.is_table() || format.gives_records() => Documents::Keep,
        _ => Documents::Split,
    }
}

/// Refuses options that a table does not follow.
fn refuse_for_tables(arguments: &Convert, table: &Table) -> Result {
    if arguments.objects.is_some() {
        return Err(Failure::usage(format!(
            "--objects has no effect on {}; pass --on-loss wrap for text of JSON",
            table.title
        )));
    }
    Ok(())
}

/// Refuses a filter that reads the documents itself, if they are rows or become rows.
///
/// # Errors
/// `Usage`.
pub fn refuse_pull(source: &Source, to: Form) -> Result {
    let table = match to {
        Form::Table(table) => Some(table),
        Form::Format(_) => source.table,
    };
    match table {
        Some(table) => Err(Failure::usage(format!(
            "a filter with `input` or `inputs` works on streams, and {} is none; convert with NDJSON in between",
            table.title
        ))),
        None => Ok(()),
    }
}

/// Sends the documents of an input to a sink.
fn read_source(
    source: &Source,
    sink: &mut impl regauge::Writer,
    options: &Options,
    aside: &mut Aside,
) -> std::result::Result<Summary, Error> {
    let meter = source.meter();
    let name = source.name.clone();
    let mut on_bad = |one: Skipped| aside.take(&name, &one, &meter);
    let again = || -> io::Result<Box<dyn Read + Send>> { source.again() };
    read(source.input(&again), options, sink, &mut on_bad)
}
