//! What `regauge inspect` shows of a pickle: everything that loading it would import and call.

use std::fmt::Write as _;
use std::io::Read;

use regauge::pickle::{Call, Import, Risk, Survey, Verdict, survey_stream};
use regauge::text::{escape_hidden, escape_hidden_in_lines};
use regauge::{Limits, Sink};

use crate::report::{Unsigned as _, error_fields};
use crate::words;

/// Reads pickles and lists what loading them would do.
pub fn take(read: impl Read, limits: &Limits) -> std::io::Result<Survey> {
    survey_stream(read, limits)
}

/// Renders the survey as text.
pub fn text(survey: &Survey, top: usize) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "\nverdict    {}", survey.verdict().words());
    if let Some(reason) = survey.reason() {
        let _ = writeln!(text, "because    {}", escape_hidden(reason));
    }
    let _ = writeln!(
        text,
        "protocol   {}, {} instructions, {} imports, {} calls; nothing was imported or called",
        survey.protocol,
        survey.instructions,
        survey.imports.len() as u64 + survey.imports_left_out,
        survey.calls.len() as u64 + survey.calls_left_out,
    );
    for (count, what) in [
        (survey.persistent_ids, "persistent ids, which the loading program has to resolve"),
        (survey.extensions.len() as u64, "extension codes, which its registry must know"),
        (survey.buffers, "out-of-band buffers, which have to be passed along"),
    ] {
        if count > 0 {
            let _ = writeln!(text, "needs      {count} {what}");
        }
    }
    if let Some(error) = &survey.error {
        let _ = writeln!(text, "broken     {}", escape_hidden_in_lines(&words::text(error)));
    }
    imports(survey, top, &mut text);
    calls(survey, top, &mut text);
    text
}

/// Sorts the worst first, otherwise in order of appearance.
fn worst<T>(all: &[T], risk: impl Fn(&T) -> Risk) -> Vec<&T> {
    let mut sorted: Vec<_> = all.iter().collect();
    sorted.sort_by_key(|one| std::cmp::Reverse(risk(one)));
    sorted
}

fn imports(survey: &Survey, top: usize, text: &mut String) {
    if survey.imports.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nimports");
    for Import { offset, module, name, risk, .. } in
        worst(&survey.imports, |import| import.risk).into_iter().take(top)
    {
        let (module, name) = (escape_hidden(module), escape_hidden(name));
        let _ = writeln!(text, "  byte {offset:<9} {:<10} {module}.{name}", risk.name());
    }
    more(survey.imports.len(), survey.imports_left_out, top, text);
}

fn calls(survey: &Survey, top: usize, text: &mut String) {
    if survey.calls.is_empty() {
        return;
    }
    let _ = writeln!(text, "\ncalls");
    for Call { offset, shown, risk, .. } in
        worst(&survey.calls, |call| call.risk).into_iter().take(top)
    {
        let _ = writeln!(text, "  byte {offset:<9} {:<10} {}", risk.name(), escape_hidden(shown));
    }
    more(survey.calls.len(), survey.calls_left_out, top, text);
}

fn more(listed: usize, left_out: u64, top: usize, text: &mut String) {
    let more = listed.saturating_sub(top) as u64 + left_out;
    if more > 0 {
        let _ = writeln!(text, "  … and {more} more; --top shows them");
    }
}

/// Writes the survey as a map.
pub fn json(survey: &Survey, json: &mut dyn Sink) -> regauge::Result {
    json.begin_map(None)?;
    json.key("verdict")?;
    json.str(survey.verdict().name())?;
    json.key("words")?;
    json.str(survey.verdict().words())?;
    json.key("safe")?;
    json.bool(survey.verdict() <= Verdict::HarmlessTypes)?;
    json.key("reason")?;
    match survey.reason() {
        Some(reason) => json.str(reason)?,
        None => json.null()?,
    }
    for (key, value) in [
        ("pickles", survey.pickles),
        ("protocol", u64::from(survey.protocol)),
        ("instructions", survey.instructions),
        ("persistent_ids", survey.persistent_ids),
        ("buffers", survey.buffers),
        ("imports_left_out", survey.imports_left_out),
        ("calls_left_out", survey.calls_left_out),
    ] {
        json.key(key)?;
        json.u64_or_i64(value)?;
    }
    json.key("extensions")?;
    json.begin_array(None)?;
    for code in &survey.extensions {
        json.i64(*code)?;
    }
    json.end_array()?;
    json.key("imports")?;
    json.begin_array(None)?;
    for import in &survey.imports {
        json.begin_map(None)?;
        json.key("offset")?;
        json.u64_or_i64(import.offset)?;
        for (key, value) in
            [("module", &*import.module), ("name", &*import.name), ("risk", import.risk.name())]
        {
            json.key(key)?;
            json.str(value)?;
        }
        json.end_map()?;
    }
    json.end_array()?;
    json.key("calls")?;
    json.begin_array(None)?;
    for call in &survey.calls {
        json.begin_map(None)?;
        json.key("offset")?;
        json.u64_or_i64(call.offset)?;
        json.key("arguments")?;
        json.u64_or_i64(call.arguments as u64)?;
        for (key, value) in [
            ("callable", &*call.callable),
            ("instruction", call.instruction),
            ("shown", &*call.shown),
            ("risk", call.risk.name()),
        ] {
            json.key(key)?;
            json.str(value)?;
        }
        json.end_map()?;
    }
    json.end_array()?;
    json.key("error")?;
    match &survey.error {
        Some(error) => {
            json.begin_map(None)?;
            error_fields(json, error)?;
            json.end_map()?;
        }
        None => json.null()?,
    }
    json.end_map()
}
