//! jq's own tests (`tests/jq.test` of jqlang/jq, MIT licence), with the cases in which we differ.

use regauge::{Format, Options, Value, read_values};
use regauge_query::{Filter, on_large_stack};

const SUITE: &str = include_str!("../../../corpus/suites/jq/jq.test");
/// The programs whose outputs differ, with the reason: see `docs/query.md`.
const DIFFERENT: &str = include_str!("jq_different.txt");

/// A case: a program, its input, its outputs; without input if the program must not compile.
struct Case<'a> {
    program: &'a str,
    input: Option<&'a str>,
    outputs: Vec<&'a str>,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let mut cases = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let fails = line.starts_with("%%FAIL");
        let program = if fails { lines.next().unwrap() } else { line };
        let input = if fails { None } else { lines.next() };
        let mut outputs = Vec::new();
        while lines.peek().is_some_and(|line| !line.trim().is_empty()) {
            outputs.push(lines.next().unwrap());
        }
        outputs.retain(|line| !line.starts_with('#'));
        cases.push(Case { program, input, outputs });
    }
    cases
}

fn json(text: &str) -> Result<Value, String> {
    let mut options = Options::new(Format::Json, Format::Json);
    options.json_read.non_finite = true;
    let text = text.trim_start_matches('\u{feff}').replace("nan", "NaN");
    let values = read_values(text.as_bytes(), &options).map_err(|error| error.to_string())?;
    values.into_iter().next().ok_or_else(|| "no value".into())
}

/// Compares outputs as jq does: by value.
fn same(a: &Value, b: &Value) -> bool {
    let equal = Filter::compile(". as [$a, $b] | $a == $b", &[]).unwrap();
    equal.run(&Value::from_iter([a.clone(), b.clone()])).is_ok_and(|is| is == [Value::Bool(true)])
}

/// Returns why a case fails; `None` if it passes.
fn run(case: &Case<'_>) -> Option<String> {
    let arguments = Value::from_iter([("named", Value::Map(Vec::new()))]);
    let variables = [("ENV", Value::from_iter([("PAGER", "less")])), ("ARGS", arguments)];
    let filter = Filter::compile(case.program, &variables);
    let Some(input) = case.input else {
        return filter.is_ok().then(|| "it compiles".into());
    };
    let filter = match filter {
        Ok(filter) => filter,
        Err(fault) => return Some(fault.message()),
    };
    let outputs = match json(input).map(|input| filter.run(&input)) {
        Ok(Ok(outputs)) => outputs,
        Ok(Err(error)) => return Some(error.to_string()),
        Err(message) => return Some(format!("input: {message}")),
    };
    let shown = || outputs.iter().map(Value::to_string).collect::<Vec<_>>().join(" ");
    if outputs.len() != case.outputs.len() {
        return Some(format!("{} outputs: {}", outputs.len(), shown()));
    }
    let mut pairs = outputs.iter().zip(&case.outputs);
    let all = pairs.all(|(output, wanted)| json(wanted).is_ok_and(|wanted| same(output, &wanted)));
    (!all).then(shown)
}

#[test]
fn jq_passes_its_own_tests() {
    on_large_stack(compare);
}

fn compare() {
    let known: Vec<&str> = DIFFERENT.lines().filter(|line| !line.starts_with("# ")).collect();
    let (mut passed, mut news, mut failed) = (0, Vec::new(), Vec::new());
    for case in cases(SUITE) {
        match run(&case) {
            None => passed += 1,
            Some(_) if known.contains(&case.program) => failed.push(case.program),
            Some(why) => {
                let wanted = case.outputs.join(" ");
                news.push(format!(
                    "{}\n    {:?}\n    {why}\n    {wanted}",
                    case.program, case.input
                ));
            }
        }
    }
    let listed = known.iter().filter(|line| !line.is_empty());
    news.extend(
        listed.filter(|one| !failed.contains(one)).map(|one| format!("{one}\n    passes now")),
    );
    assert!(news.is_empty(), "{} news:\n{}", news.len(), news.join("\n"));
    let said = format!("Of jq's own {} tests, {passed} pass", passed + failed.len());
    assert!(include_str!("../../../docs/query.md").contains(&said), "docs/query.md: {said}");
}
