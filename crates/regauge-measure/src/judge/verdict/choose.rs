//! Chooses what to use for storage, for the wire and for an in-process cache.
//!
//! Each use weighs writing, reading and size in its own way (`crate::judge::cost::Weights`). A library that
//! runs code, that a small document can stop, or that loses data cannot win unless an option allows
//! it; the report names what was left out, and what it would have gained.

use std::fmt::Write as _;

use super::field::{self, Untimed};
use super::refusal::{caveats, refusal};
use crate::judge::cost::{self, Way, Weights};
use crate::judge::summary;
use crate::model::report::{Assumptions, Choice, Gain, Report, Row, Verdict};
use crate::model::runtime::Runtime;
use crate::model::stats::Estimate;
use crate::model::text::plain;
use crate::model::wire::Gives;
use crate::plan::options::Allow;
use crate::plan::order;

/// Names shown in a tie, at most.
const NAMES: usize = 3;
/// Two ways whose figures differ by less than this share are tied, however certain the samples are:
/// another file of the same kind could reverse their order.
const TOO_SMALL: f64 = 0.01;

/// A use, with its wording.
struct Use {
    purpose: &'static str,
    /// What the advice begins with: "to store".
    advice: &'static str,
    /// What the cost is called, for "saves 70% of the storage cost".
    figure: &'static str,
    weights: Weights,
    /// Whether it needs bytes: then they may be compressed, and text is not enough.
    needs_bytes: bool,
    because: String,
}

impl Use {
    /// Returns whether the use can be served this way, whatever that costs.
    fn takes(&self, way: &Way) -> bool {
        if self.needs_bytes { !way.row.is_text } else { way.compression == "none" }
    }
}

fn uses(assumed: &Assumptions) -> [Use; 3] {
    let reads = plain(assumed.reads_per_write);
    [
        Use {
            purpose: "storage",
            advice: "to store",
            figure: "storage",
            weights: Weights::storage(assumed),
            needs_bytes: true,
            because: format!(
                "Cost model: one write and {reads} reads on one core, plus storage for {} months; \
                 a core-hour costs as much as {} GB for a month.",
                plain(assumed.store_months),
                plain(assumed.gigabyte_months_per_core_hour)
            ),
        },
        Use {
            purpose: "wire",
            advice: "to send",
            figure: "transfer",
            weights: Weights::wire(assumed),
            needs_bytes: true,
            because: format!(
                "Cost model: the time for one write, one transfer at {} and one read.",
                cost::bandwidth_text(assumed.bandwidth)
            ),
        },
        Use {
            purpose: "cache",
            advice: "for the in-process cache",
            figure: "caching",
            weights: Weights::cache(assumed),
            needs_bytes: false,
            because: format!(
                "Cost model: the time for one write and {reads} reads; size is ignored."
            ),
        },
    ]
}

/// Chooses. `bundled` says which rows belong to a library that comes with its runtime: the user is
/// assumed to have one of those now. `untimed` lists all installed contenders without times: a runtime
/// whose usual library is among them, and not ruled out, gets no winner.
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
        // A tree is not an end in itself: recommendations are about values that a program works with.
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

/// Returns the rows that are first for each use in each runtime, as indexes into the report's rows;
/// runtimes alternate.
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

/// The ways of one runtime to produce one kind of object.
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

    /// Returns the cheapest and all that tie with it, the cheapest first.
    fn winners(&self, purpose: &Use) -> Vec<&'g Way<'g>> {
        let mut list: Vec<&Way> = self
            .ways
            .iter()
            .copied()
            .filter(|way| self.may_win(way) && purpose.takes(way))
            .collect();
        list.sort_by(|one, other| {
            one.cost(purpose.weights).total_cmp(&other.cost(purpose.weights))
        });
        // Those that left the race have few samples: they never tie, and only a size that makes up for their
        // time lets them win.
        let stayed = |way: &&&Way| way.row.dropped.is_none();
        let Some(best) = list.iter().find(stayed).or(list.first()).copied() else { return list };
        let seed = self.report.method.seed;
        let is_cheaper = |way: &&&Way| {
            let ratio = way.against(best, purpose.weights, seed);
            !stayed(way) && !ratio.too_few && ratio.high < 1.0
        };
        let before = list.iter().take_while(|way| !std::ptr::eq(**way, best));
        if let Some(cheaper) = before.clone().find(is_cheaper) {
            return vec![cheaper];
        }
        list.retain(|way| std::ptr::eq(*way, best) || way.row.dropped.is_none());
        // Intervals are slow to compute, so they are skipped for figures that are far apart.
        let near = |way: &Way| way.cost(purpose.weights) <= 2.0 * best.cost(purpose.weights);
        let close = list[1..].iter().take_while(|way| near(way)).filter(|way| {
            let ratio = way.against(best, purpose.weights, seed);
            ratio.too_few || ratio.low <= 1.0 || ratio.median < 1.0 + TOO_SMALL
        });
        let close: Vec<&Way> = close.copied().collect();
        std::iter::once(best).chain(close).collect()
    }

    /// Returns the choice for an undecided field.
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
            because.push_str(" No candidate is left.");
        }
        if winners.len() > 1 {
            because.push_str(
                " A tie: the 95% intervals of the differences include zero, or the differences are \
                 below 1%, or there are too few samples to tell.",
            );
        }
        let left_out = self.left_out(purpose);
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

    /// Returns every timed row that may not win, with the reason.
    fn left_out(&self, purpose: &Use) -> Vec<String> {
        let text = |row: &Row| row.is_text && purpose.needs_bytes;
        self.ways
            .iter()
            .filter(|way| way.compression == "none")
            .filter_map(|way| {
                let refusal = refusal(self.report, way.row, self.allow);
                let why = refusal.or(text(way.row).then(|| "gives text, not bytes".to_owned()))?;
                Some(format!("{}: {why}", way.label()))
            })
            .collect()
    }

    /// Says what the best of those left out would have saved.
    fn tempting(&self, purpose: &Use, winners: &[&Way]) -> Option<String> {
        let best = winners.first()?;
        let cost = |way: &&&Way| way.cost(purpose.weights);
        let refused = self
            .ways
            .iter()
            .filter(|way| !self.may_win(way) && purpose.takes(way))
            .min_by(|one, other| cost(one).total_cmp(&cost(other)))?;
        let ratio = refused.against(best, purpose.weights, self.report.method.seed);
        (!ratio.too_few && ratio.high < 1.0 - TOO_SMALL)
            .then(|| format!("{} would cost {} as much.", refused.label(), percent(ratio)))
    }

    /// Returns the advice in a sentence.
    fn advice(&self, uses: &[Use], winners: &[Vec<&Way>]) -> String {
        let names: Vec<String> = winners.iter().map(|list| named(list)).collect();
        if names.iter().all(|name| *name == names[0]) {
            return match winners[0].is_empty() {
                true => {
                    format!("{}: no recommendation; see what was left out.", self.name())
                }
                false => {
                    format!("{}: use {} to store, to send and to cache.", self.name(), names[0])
                }
            };
        }
        let parts: Vec<String> = uses
            .iter()
            .zip(&names)
            .map(|(purpose, name)| format!("{}, use {name}", purpose.advice))
            .collect();
        format!("{}: {}.", self.name(), parts.join("; "))
    }

    /// What the user has now: the input's own format, uncompressed, with the usual library that
    /// comes with the runtime; else the one that is named like the format; else a usual one whose
    /// name holds the format's (serde_json); else the cheapest.
    fn now(&self, bundled: &dyn Fn(&Row) -> bool) -> Option<&'g Way<'g>> {
        let format = order::family(&self.report.input.format);
        let same = || {
            self.ways
                .iter()
                .copied()
                .filter(|way| way.compression == "none" && order::family(&way.row.format) == format)
        };
        same()
            .find(|way| bundled(way.row) && way.row.usual)
            .or_else(|| same().find(|way| bundled(way.row)))
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

    /// Returns how many times less the first winner costs than what the user has now.
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

    /// Says how much the winners save over what the user has now.
    fn gains(&self, uses: &[Use], winners: &[Vec<&Way>], now: &Way) -> Option<String> {
        let seed = self.report.method.seed;
        let parts: Vec<String> = uses
            .iter()
            .zip(winners)
            .filter_map(|(purpose, list)| {
                let best = list.first()?;
                if list.iter().any(|way| is_same(way, now)) {
                    return Some(format!("saves nothing on {}", purpose.figure));
                }
                let ratio = best.against(now, purpose.weights, seed);
                Some(saving(ratio, purpose.figure))
            })
            .collect();
        if parts.is_empty() {
            return None;
        }
        Some(format!(
            "{}, compared with uncompressed {}: {}.",
            self.name(),
            now.label(),
            parts.join(", ")
        ))
    }
}

fn is_same(one: &Way, other: &Way) -> bool {
    std::ptr::eq(one.row, other.row) && one.compression == other.compression
}

/// Names the first of those that tie, and says how many more there are.
fn named(winners: &[&Way]) -> String {
    let names: Vec<String> = winners.iter().map(|way| way.label()).collect();
    match names.as_slice() {
        [] => "none of the measured libraries".to_owned(),
        [one] => one.clone(),
        many => {
            let shown = many[..many.len().min(NAMES)].join(" or ");
            let more = match many.len().saturating_sub(NAMES) {
                0 => String::new(),
                more => format!(" or {more} more"),
            };
            format!("{shown}{more} (a tie)")
        }
    }
}

/// Says what a ratio of costs saves, with its interval: "saves 69% (67–70%) of the storage cost", or
/// "saves about 69% (too few samples) of the storage cost".
fn saving(ratio: Estimate, figure: &str) -> String {
    let digits = if ratio.median < 0.1 { 1 } else { 0 };
    let saves = ratio.median <= 1.0;
    let part = |ratio: f64| 100.0 * if saves { 1.0 - ratio } else { ratio - 1.0 };
    let (low, high) = (part(ratio.low), part(ratio.high));
    let (about, interval) = match ratio.too_few {
        true => ("about ", "too few samples".to_owned()),
        false => ("", format!("{:.digits$}–{:.digits$}%", low.min(high), low.max(high))),
    };
    format!(
        "{} {about}{:.digits$}% ({interval}) {} the {figure} cost",
        if saves { "saves" } else { "adds" },
        part(ratio.median),
        if saves { "of" } else { "to" }
    )
}

/// Formats a ratio as a percentage with its interval: "31% (30–33%)".
fn percent(ratio: Estimate) -> String {
    let digits = if ratio.median < 0.1 { 1 } else { 0 };
    format!(
        "{:.digits$}% ({:.digits$}–{:.digits$}%)",
        ratio.median * 100.0,
        ratio.low * 100.0,
        ratio.high * 100.0
    )
}

#[cfg(test)]
mod tests;
