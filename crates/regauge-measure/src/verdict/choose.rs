//! What to take for storage, for the wire and for caching within a process.
//!
//! Each use weighs writing, reading and size in its own way (`crate::cost::Weights`). What runs
//! code, what a small document can stop, and what loses data may not win unless it is allowed by
//! name; what was left out is said, and what it would have gained.

use std::fmt::Write as _;

use super::field::{self, Untimed};
use crate::contender::Gives;
use crate::cost::{self, Way, Weights};
use crate::order;
use crate::report::{Assumptions, BombOutcome, Choice, Gain, Report, Row, Verdict};
use crate::runtime::Runtime;
use crate::stats::Estimate;
use crate::summary;
use crate::table;

/// What may win although it is refused otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Allow {
    /// What runs code of the document's choice, or is stopped by a small document.
    pub unsafe_ones: bool,
    /// What loses some of the user's data.
    pub lossy: bool,
}

/// Names shown where several are too close to call.
const NAMES: usize = 3;
/// Two ways whose figures differ by less than this part are not told apart, however sure the
/// samples are: another file of the same kind would turn them round.
const TOO_SMALL: f64 = 0.01;

/// A use, and how it is spoken of.
struct Use {
    purpose: &'static str,
    /// "… store as X": what to do.
    advice: &'static str,
    /// What the figure is, for "is 0.3 times what json costs".
    figure: &'static str,
    weights: Weights,
    /// Whether compressed bytes are among the choices.
    compressed: bool,
    because: String,
}

fn uses(assumed: &Assumptions) -> [Use; 3] {
    let reads = cost::plain(assumed.reads_per_write);
    [
        Use {
            purpose: "storage",
            advice: "to store",
            figure: "storing",
            weights: Weights::storage(assumed),
            compressed: true,
            because: format!(
                "Weighed: one writing and {reads} readings by a core, and its bytes for {} months, \
                 where an hour of a core counts as much as {} GB for a month.",
                cost::plain(assumed.store_months),
                cost::plain(assumed.gigabyte_months_per_core_hour)
            ),
        },
        Use {
            purpose: "wire",
            advice: "to send",
            figure: "sending",
            weights: Weights::wire(assumed),
            compressed: true,
            because: format!(
                "Weighed: the time of one writing, one move at {} and one reading.",
                cost::bandwidth_text(assumed.bandwidth)
            ),
        },
        Use {
            purpose: "cache",
            advice: "to cache in the process",
            figure: "caching",
            weights: Weights::cache(assumed),
            compressed: false,
            because: format!(
                "Weighed: the time of one writing and {reads} readings; size counts for nothing."
            ),
        },
    ]
}

/// Why a row may not win, in a few words; nothing when it may.
pub(crate) fn refusal(report: &Report, row: &Row, allow: Allow) -> Option<String> {
    if !allow.unsafe_ones {
        let safety = row.safety.as_ref();
        if safety.is_some_and(|safety| safety.runs_code == Some(true)) {
            return Some("decoding ran code that a document named".to_owned());
        }
        if let Some(reason) = &row.unsafe_because {
            return Some(reason.clone());
        }
        let bombs = safety.map_or(&[][..], |safety| &safety.bombs);
        let stopped = bombs.iter().filter(|bomb| bomb.ended).find_map(|bomb| {
            let does = match bomb.outcome {
                BombOutcome::Crashed => "crashes it",
                BombOutcome::OutOfMemory => "takes all memory",
                BombOutcome::OutOfTime => "takes endless time",
                BombOutcome::Refused | BombOutcome::Decoded => return None,
            };
            Some(format!("a hostile {} ({}) {does}", table::bytes(bomb.bytes), bomb.kind))
        });
        if stopped.is_some() {
            return stopped;
        }
    }
    if !allow.lossy {
        let format = report.references.iter().find(|one| one.format == row.format);
        let of_format = format.map_or(&[][..], |one| &one.losses);
        for (losses, who) in [(&row.losses[..], "loses"), (of_format, "its format loses")] {
            if !losses.is_empty() {
                let kinds: Vec<&str> = losses.iter().map(|loss| loss.kind.as_str()).collect();
                return Some(format!("{who} {}", kinds.join(", ")));
            }
        }
    }
    None
}

/// Chooses. `bundled` says which rows are of a library that comes with its runtime: those are
/// what the user is taken to have now. `untimed` is everybody who is installed and has no times: a
/// runtime with a usual library among them that is not ruled out gets no winner.
pub(crate) fn decide(
    report: &Report,
    assumed: &Assumptions,
    allow: Allow,
    bundled: &dyn Fn(&Row) -> bool,
    untimed: &[Untimed],
) -> Verdict {
    let mut fields = field::fields(report, untimed);
    let ways = cost::ways(report);
    let uses = uses(assumed);
    let (mut advice, mut gains, mut choices) = (Vec::new(), Vec::new(), Vec::new());
    for field in &mut fields {
        let (runtime, gives) = (field.runtime, field.gives);
        // A tree is no end in itself: a recommendation is about what a program goes on with.
        if gives == Gives::Tree {
            continue;
        }
        let ways: Vec<&Way> =
            ways.iter().filter(|way| summary::is_in(way.row, runtime, gives)).collect();
        let group = Group { runtime, gives, ways, report, allow };
        let now = group.now(bundled);
        field.now = now.map(Way::label);
        if !field.is_decided() {
            let why = field::undecided(field);
            choices.extend(uses.iter().map(|one| group.no_choice(one, &why)));
            advice.push(format!("{}: {why}.", group.name()));
            continue;
        }
        let winners: Vec<Vec<&Way>> = uses.iter().map(|one| group.winners(one)).collect();
        let won = uses.iter().zip(&winners);
        choices.extend(won.map(|(one, won)| Choice {
            gain: now.and_then(|now| group.gain(one, won, now)),
            ..group.choice(one, won)
        }));
        advice.push(group.advice(&uses, &winners));
        gains.extend(now.and_then(|now| group.gains(&uses, &winners, now)));
    }
    let mut summary = advice;
    summary.append(&mut gains);
    if !choices.is_empty() {
        summary.extend(caveats(report, allow));
    }
    Verdict { summary, choices, fields }
}

/// The row that is first for each use in each runtime, by their places in the report: runtimes take
/// turns.
pub(crate) fn leaders(report: &Report, assumed: &Assumptions, allow: Allow) -> Vec<usize> {
    let ways = cost::ways(report);
    let groups: Vec<Group<'_>> = summary::groups(report)
        .into_iter()
        .map(|(runtime, gives)| {
            let ways = ways.iter().filter(|way| summary::is_in(way.row, runtime, gives)).collect();
            Group { runtime, gives, ways, report, allow }
        })
        .collect();
    let mut places: Vec<usize> = Vec::new();
    for one in &uses(assumed) {
        for leader in groups.iter().filter_map(|group| group.winners(one).first().copied()) {
            let place = report.rows.iter().position(|row| std::ptr::eq(row, leader.row));
            places.extend(place.filter(|place| !places.contains(place)));
        }
    }
    places
}

/// The ways of one runtime to one kind of objects.
struct Group<'g> {
    runtime: Runtime,
    gives: Gives,
    ways: Vec<&'g Way<'g>>,
    report: &'g Report,
    allow: Allow,
}

impl<'g> Group<'g> {
    fn name(&self) -> String {
        match self.gives {
            Gives::Data => self.runtime.name().to_owned(),
            gives => format!("{}, {}", self.runtime.name(), gives.what()),
        }
    }

    fn may_win(&self, way: &Way) -> bool {
        refusal(self.report, way.row, self.allow).is_none()
    }

    /// The cheapest and all that are too close to it, the cheapest first.
    fn winners(&self, purpose: &Use) -> Vec<&'g Way<'g>> {
        let mut list: Vec<&Way> = self
            .ways
            .iter()
            .copied()
            .filter(|way| self.may_win(way) && (purpose.compressed || way.compression == "none"))
            .collect();
        list.sort_by(|one, other| {
            one.cost(purpose.weights).total_cmp(&other.cost(purpose.weights))
        });
        let Some(best) = list.first().copied() else { return list };
        // Intervals are not asked for where the figures are far apart: that is what takes time.
        let near = |way: &Way| way.cost(purpose.weights) <= 2.0 * best.cost(purpose.weights);
        let close = list[1..].iter().take_while(|way| near(way)).filter(|way| {
            let ratio = way.against(best, purpose.weights, self.report.method.seed);
            ratio.low <= 1.0 || ratio.median < 1.0 + TOO_SMALL
        });
        let close: Vec<&Way> = close.copied().collect();
        std::iter::once(best).chain(close).collect()
    }

    /// The choice of a field that is not decided.
    fn no_choice(&self, purpose: &Use, why: &str) -> Choice {
        Choice {
            runtime: self.runtime,
            gives: self.gives,
            purpose: purpose.purpose.to_owned(),
            winners: Vec::new(),
            too_close: false,
            because: format!("There is {why}."),
            gain: None,
        }
    }

    fn choice(&self, purpose: &Use, winners: &[&Way]) -> Choice {
        let mut because = purpose.because.clone();
        if winners.is_empty() {
            because.push_str(" Nobody is left to choose from.");
        }
        if winners.len() > 1 {
            because.push_str(
                " Too close to call: the intervals of their differences hold none, or they differ \
                 by less than 1%.",
            );
        }
        let left_out = self.left_out();
        if !left_out.is_empty() {
            let _ = write!(because, " Left out: {}.", left_out.join("; "));
        }
        if let Some(tempting) = self.tempting(purpose, winners) {
            let _ = write!(because, " {tempting}");
        }
        Choice {
            runtime: self.runtime,
            gives: self.gives,
            purpose: purpose.purpose.to_owned(),
            winners: winners.iter().map(|way| way.label()).collect(),
            too_close: winners.len() > 1,
            because,
            gain: None,
        }
    }

    /// Every timed row that may not win, with the reason.
    fn left_out(&self) -> Vec<String> {
        self.ways
            .iter()
            .filter(|way| way.compression == "none")
            .filter_map(|way| {
                Some(format!("{}: {}", way.label(), refusal(self.report, way.row, self.allow)?))
            })
            .collect()
    }

    /// What would have been won by one that was left out.
    fn tempting(&self, purpose: &Use, winners: &[&Way]) -> Option<String> {
        let best = winners.first()?;
        let cost = |way: &&&Way| way.cost(purpose.weights);
        let refused = self
            .ways
            .iter()
            .filter(|way| !self.may_win(way) && (purpose.compressed || way.compression == "none"))
            .min_by(|one, other| cost(one).total_cmp(&cost(other)))?;
        let ratio = refused.against(best, purpose.weights, self.report.method.seed);
        (ratio.high < 1.0 - TOO_SMALL)
            .then(|| format!("{} would cost {} as much.", refused.label(), percent(ratio)))
    }

    /// What to do.
    fn advice(&self, uses: &[Use], winners: &[Vec<&Way>]) -> String {
        let names: Vec<String> = winners.iter().map(|list| named(list)).collect();
        if names.iter().all(|name| *name == names[0]) {
            return match winners[0].is_empty() {
                true => {
                    format!("{}: nothing can be recommended; see what was left out.", self.name())
                }
                false => {
                    format!("{}: take {} to store, to send and to cache.", self.name(), names[0])
                }
            };
        }
        let parts: Vec<String> = uses
            .iter()
            .zip(&names)
            .map(|(purpose, name)| format!("{} take {name}", purpose.advice))
            .collect();
        format!("{}: {}.", self.name(), parts.join("; "))
    }

    /// What the user has now: the input's own format, uncompressed, with the library that comes
    /// with the runtime; else the one that is named like the format; else a usual one whose name
    /// holds the format's (serde_json); else the cheapest.
    fn now(&self, bundled: &dyn Fn(&Row) -> bool) -> Option<&'g Way<'g>> {
        let format = order::family(&self.report.input.format);
        let same = || {
            self.ways
                .iter()
                .copied()
                .filter(|way| way.compression == "none" && order::family(&way.row.format) == format)
        };
        same()
            .find(|way| bundled(way.row))
            .or_else(|| same().find(|way| way.row.library == format))
            .or_else(|| {
                let named = |way: &&Way| way.row.library.to_lowercase().contains(format);
                same().find(|way| way.row.usual && named(way))
            })
            .or_else(|| {
                let weights = Weights { writes: 1.0, reads: 1.0, byte_ns: 0.0 };
                same().min_by(|one, other| one.cost(weights).total_cmp(&other.cost(weights)))
            })
    }

    /// How many times less the first winner takes than what the user has now.
    fn gain(&self, purpose: &Use, winners: &[&Way], now: &Way) -> Option<Gain> {
        let best = winners.first()?;
        let seed = self.report.method.seed;
        let cpu = Weights { byte_ns: 0.0, ..purpose.weights };
        Some(Gain {
            is_same: winners.iter().any(|way| is_same(way, now)),
            size: now.bytes / best.bytes.max(1.0),
            time: now.against(best, cpu, seed),
            cost: now.against(best, purpose.weights, seed),
        })
    }

    /// By how much the winners beat what the user has now.
    fn gains(&self, uses: &[Use], winners: &[Vec<&Way>], now: &Way) -> Option<String> {
        let seed = self.report.method.seed;
        let parts: Vec<String> = uses
            .iter()
            .zip(winners)
            .filter_map(|(purpose, list)| {
                let best = list.first()?;
                if list.iter().any(|way| is_same(way, now)) {
                    return Some(format!("{} is as cheap already", purpose.figure));
                }
                let ratio = best.against(now, purpose.weights, seed);
                Some(format!("{} costs {} of that", purpose.figure, percent(ratio)))
            })
            .collect();
        if parts.is_empty() {
            return None;
        }
        Some(format!(
            "{}, against {} as it is, uncompressed: {}.",
            self.name(),
            now.label(),
            parts.join(", ")
        ))
    }
}

fn is_same(one: &Way, other: &Way) -> bool {
    std::ptr::eq(one.row, other.row) && one.compression == other.compression
}

/// The first of those that are too close, and how many more there are.
fn named(winners: &[&Way]) -> String {
    let names: Vec<String> = winners.iter().map(|way| way.label()).collect();
    match names.as_slice() {
        [] => "nothing that was measured".to_owned(),
        [one] => one.clone(),
        many => {
            let shown = many[..many.len().min(NAMES)].join(" or ");
            let more = match many.len().saturating_sub(NAMES) {
                0 => String::new(),
                more => format!(" or {more} more"),
            };
            format!("{shown}{more} (too close to call)")
        }
    }
}

/// A ratio as a percentage with its interval: "31% (30–33%)".
fn percent(ratio: Estimate) -> String {
    let digits = if ratio.median < 0.1 { 1 } else { 0 };
    format!(
        "{:.digits$}% ({:.digits$}–{:.digits$}%)",
        ratio.median * 100.0,
        ratio.low * 100.0,
        ratio.high * 100.0
    )
}

/// What to keep in mind.
fn caveats(report: &Report, allow: Allow) -> Vec<String> {
    let mut list = Vec::new();
    let refused: Vec<(&Row, String)> = report
        .rows
        .iter()
        .filter(|row| row.is_timed())
        .filter_map(|row| Some((row, refusal(report, row, allow)?)))
        .collect();
    if !refused.is_empty() {
        let names: Vec<String> = refused
            .iter()
            .map(|(row, why)| format!("{} ({}): {why}", row.contender, row.runtime.name()))
            .collect();
        list.push(format!(
            "Left out, unless --allow unsafe or --allow lossy says otherwise: {}.",
            names.join("; ")
        ));
    }
    if allow.unsafe_ones {
        list.push(
            "Unsafe ones were allowed: never decode what a stranger could have written with them."
                .to_owned(),
        );
    }
    let untried = report.rows.iter().filter(|row| row.is_timed() && row.safety.is_none());
    let untried = untried.count();
    if untried > 0 && !allow.unsafe_ones {
        list.push(format!(
            "{untried} of the libraries were not safety-tested; rated from their documentation \
             (--safety all tests them)."
        ));
    }
    if report.references.iter().all(|one| one.compressions.is_empty()) {
        list.push("Compression was not measured, so none is recommended.".to_owned());
    }
    if report.interrupted {
        list.push("The run was stopped before its end.".to_owned());
    }
    list.push(
        "This holds for this file on this machine; --bandwidth, --reads-per-write and \
         --store-months change the weights."
            .to_owned(),
    );
    list
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
