//! Decides whether enough was timed to name a winner among the contenders of one runtime and kind of
//! objects.

use crate::judge::summary;
use crate::model::report::{Field, NotTimed, Report};
use crate::model::runtime::Runtime;
use crate::model::wire::Gives;

/// Names in a sentence, at most.
const NAMES: usize = 4;

/// A contender without times, and the field it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Untimed {
    pub runtime: Runtime,
    pub gives: Gives,
    pub told: NotTimed,
}

impl Untimed {
    fn is_in(&self, runtime: Runtime, gives: Gives) -> bool {
        self.runtime == runtime && self.gives == gives
    }
}

/// Returns the fields of a report, in the order of its rows; fields without any timed row come last.
pub(super) fn fields(report: &Report, untimed: &[Untimed]) -> Vec<Field> {
    let mut groups = summary::groups(report);
    for one in untimed {
        if !groups.contains(&(one.runtime, one.gives)) {
            groups.push((one.runtime, one.gives));
        }
    }
    groups.into_iter().map(|(runtime, gives)| field(report, untimed, runtime, gives)).collect()
}

fn field(report: &Report, untimed: &[Untimed], runtime: Runtime, gives: Gives) -> Field {
    let timed: Vec<_> = report
        .rows
        .iter()
        .filter(|row| summary::is_in(row, runtime, gives) && row.is_timed())
        .collect();
    let mut not_timed: Vec<NotTimed> = untimed
        .iter()
        .filter(|one| one.is_in(runtime, gives))
        .map(|one| one.told.clone())
        .collect();
    not_timed.sort_by_key(|one| (!one.usual, one.is_ruled_out));
    let usual = |of: &[NotTimed]| of.iter().filter(|one| one.usual).count();
    let open = not_timed.iter().filter(|one| one.usual && !one.is_ruled_out).count();
    let usual_timed = timed.iter().filter(|row| row.usual).count();
    let missing = report
        .missing
        .iter()
        .filter(|one| one.usual && one.runtime == runtime && one.gives == Some(gives));
    Field {
        runtime,
        gives,
        found: (timed.len() + not_timed.len()) as u64,
        timed: timed.len() as u64,
        usual: (usual_timed + usual(&not_timed)) as u64,
        usual_timed: (usual_timed + usual(&not_timed) - open) as u64,
        usual_missing: missing.map(|one| one.contender.clone()).collect(),
        not_timed,
        now: None,
    }
}

/// Says why there is no winner, in a sentence without its full stop.
pub(super) fn undecided(field: &Field) -> String {
    let open: Vec<&NotTimed> =
        field.not_timed.iter().filter(|one| one.usual && !one.is_ruled_out).collect();
    let Some(first) = open.first() else {
        return format!("no winner: none of {} libraries could be timed", field.found);
    };
    let names: Vec<&str> = open.iter().take(NAMES).map(|one| one.contender.as_str()).collect();
    let more = match open.len().saturating_sub(NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "no winner: {}{more} {} not timed ({}); {} of {} libraries were",
        names.join(", "),
        if open.len() == 1 { "was" } else { "were" },
        first.why,
        field.timed,
        field.found
    )
}
