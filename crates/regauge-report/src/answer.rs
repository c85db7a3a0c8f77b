//! Derives the answer: what to use in each runtime, for each use, and what that saves over what the
//! user has now. The terminal and the page show the same one.

use regauge_measure::report::{Choice, Field, Row, Verdict};
use regauge_measure::{Gives, Report, Runtime, groups, is_in};

use crate::text::visible;

/// What the uses are called, in the order of the columns.
pub const USES: [(&str, &str); 3] =
    [("storage", "to store"), ("wire", "to send"), ("cache", "in-process cache")];

/// Factors below this are not worth a word.
const GAIN_MIN: f64 = 1.05;
/// What is said of a gain of size.
const SMALLER: &str = "smaller";
/// Names of contenders that are listed before the rest is counted.
const NAMED_MAX: usize = 4;

/// One runtime, or one kind of objects in a runtime.
pub struct Line {
    /// The name for people: "Python", "Ruby, records".
    pub name: String,
    /// Contenders that have times.
    pub timed: u64,
    /// Contenders that are installed.
    pub found: u64,
    /// What the user has now, uncompressed: the gains are over this.
    pub now: Option<String>,
    /// What to use.
    pub outcome: Outcome,
}

/// What came out for a runtime.
pub enum Outcome {
    /// A pick for each use, in the order of [`USES`].
    Decided(Vec<Pick>),
    /// Why there is no winner: "orjson, msgspec not timed".
    Undecided(String),
}

/// What to use for one use.
pub struct Pick {
    /// The winner, or all that tie, the best first; empty when nothing may be recommended.
    pub winners: Vec<String>,
    /// What it saves over what the user has now: "4.9x smaller". Empty when that is nothing.
    pub gain: String,
    /// What the user has now, where the gain is one of size: "json".
    pub than: Option<String>,
    /// Contenders that could have won, because they have times.
    pub timed: u64,
}

/// Returns a line for each runtime and kind of objects that a program works on.
pub fn lines(report: &Report) -> Vec<Line> {
    let Some(verdict) = &report.verdict else { return Vec::new() };
    let mut all = groups(report);
    all.extend(verdict.fields.iter().map(|field| (field.runtime, field.gives)));
    let mut seen = Vec::new();
    all.retain(|group| {
        // A tree is not an end in itself: libraries that return one are not recommended.
        let is_new = group.1 != Gives::Tree && !seen.contains(group);
        seen.push(*group);
        is_new
    });
    all.into_iter().filter_map(|(runtime, gives)| line(report, verdict, runtime, gives)).collect()
}

fn line(report: &Report, verdict: &Verdict, runtime: Runtime, gives: Gives) -> Option<Line> {
    let field = verdict.fields.iter().find(|one| one.runtime == runtime && one.gives == gives);
    let choices: Vec<&Choice> =
        verdict.choices.iter().filter(|one| one.runtime == runtime && one.gives == gives).collect();
    let (timed, found) = match field {
        Some(field) => (field.timed, field.found),
        None => counted(report, runtime, gives),
    };
    if found == 0 {
        return None;
    }
    let is_decided = !choices.is_empty() && field.is_none_or(Field::is_decided);
    let outcome = if is_decided {
        let pick = |(purpose, _): &(&str, &str)| {
            let choice = choices.iter().find(|one| one.purpose == *purpose);
            choice.map_or_else(|| Pick::none(timed), |choice| Pick::of(choice, field, timed))
        };
        Outcome::Decided(USES.iter().map(pick).collect())
    } else {
        Outcome::Undecided(why_not(report, field, runtime, gives))
    };
    let now = field.and_then(|field| field.now.as_deref()).map(visible);
    Some(Line { name: name(runtime, gives), timed, found, now, outcome })
}

impl Line {
    /// Returns what to use for each purpose, or nothing if there is no winner for any.
    pub fn picks(&self) -> Option<&[Pick]> {
        match &self.outcome {
            Outcome::Decided(picks) if picks.iter().any(|pick| !pick.winners.is_empty()) => {
                Some(picks)
            }
            _ => None,
        }
    }

    /// Says why there is no winner.
    pub fn why_none(&self) -> String {
        match &self.outcome {
            Outcome::Decided(_) => none_fits(self.timed),
            Outcome::Undecided(why) => why.clone(),
        }
    }

    /// Says why there is no winner, and how many were timed.
    pub fn without_winner(&self) -> String {
        format!("{} of {} timed, no answer: {}", self.timed, self.found, self.why_none())
    }
}

/// Returns the name of a group: "Python", or "Ruby, records".
pub fn name(runtime: Runtime, gives: Gives) -> String {
    let runtime = visible(runtime.name());
    match gives {
        Gives::Data => runtime,
        Gives::Record => format!("{runtime}, records"),
        Gives::Tree => format!("{runtime}, trees"),
    }
}

/// Says that all contenders with times are left out; nothing is known about others.
fn none_fits(timed: u64) -> String {
    match timed {
        1 => "the one timed is unsafe or lossy".to_owned(),
        timed => format!("none of the {timed} timed is safe and lossless"),
    }
}

/// Returns how many contenders have times, and how many are installed, in all lines together: as
/// there, without those that return a tree, unless there are no others.
pub fn totals(report: &Report) -> (u64, u64) {
    let (timed, found) =
        lines(report).iter().fold((0, 0), |sum, line| (sum.0 + line.timed, sum.1 + line.found));
    if found > 0 {
        return (timed, found);
    }
    let timed = report.rows.iter().filter(|row| row.is_timed()).count();
    (timed as u64, report.rows.len() as u64)
}

/// Returns how many of a group have times, and how many there are.
fn counted(report: &Report, runtime: Runtime, gives: Gives) -> (u64, u64) {
    let rows = || report.rows.iter().filter(|row| is_in(row, runtime, gives));
    (rows().filter(|row| row.is_timed()).count() as u64, rows().count() as u64)
}

/// Names what is missing from a field without a winner.
fn why_not(report: &Report, field: Option<&Field>, runtime: Runtime, gives: Gives) -> String {
    let names: Vec<&str> = match field {
        Some(field) => {
            let open = |usual: bool| {
                let is_open = move |one: &&regauge_measure::report::NotTimed| {
                    one.usual == usual && !one.is_ruled_out
                };
                field.not_timed.iter().filter(is_open).map(|one| one.contender.as_str())
            };
            let usual: Vec<&str> = open(true).collect();
            if usual.is_empty() { open(false).collect() } else { usual }
        }
        None => {
            let is_open = |row: &&Row| is_in(row, runtime, gives) && !row.is_timed();
            report.rows.iter().filter(is_open).map(|row| row.contender.as_str()).collect()
        }
    };
    if names.is_empty() {
        let is_open = field.is_some_and(|field| field.usual_timed < field.usual);
        let why =
            if is_open { "usual libraries not timed" } else { "none returns this data intact" };
        return why.to_owned();
    }
    format!("{} not timed", listed(&names, NAMED_MAX))
}

/// Joins names: "a, b and 3 more".
pub fn listed(names: &[&str], shown_max: usize) -> String {
    // One more name is no longer than "1 more".
    let shown = if names.len() <= shown_max + 1 { names.len() } else { shown_max };
    let text: Vec<String> = names[..shown].iter().map(|name| visible(name)).collect();
    match names.len() - shown {
        0 => text.join(", "),
        more => format!("{} and {more} more", text.join(", ")),
    }
}

impl Pick {
    fn none(timed: u64) -> Pick {
        Pick { winners: Vec::new(), gain: String::new(), than: None, timed }
    }

    fn of(choice: &Choice, field: Option<&Field>, timed: u64) -> Pick {
        let winners = choice.winners.iter().map(|one| visible(one)).collect();
        let gain = gain(choice).unwrap_or_default();
        let now = field.and_then(|field| field.now.as_deref()).map(visible);
        let than = now.filter(|_| gain.ends_with(SMALLER));
        Pick { winners, gain, than, timed }
    }

    /// What it saves, and over what: "4.9x smaller than json".
    pub fn gain_over(&self) -> String {
        match &self.than {
            Some(now) => format!("{} than {now}", self.gain),
            None => self.gain.clone(),
        }
    }

    /// Returns the winner in a few words: "orjson + zstd -3", "json or oj (a tie)".
    pub fn text(&self) -> String {
        let [best, rest @ ..] = self.winners.as_slice() else {
            return none_fits(self.timed);
        };
        match rest {
            [] => best.clone(),
            [other] => format!("{} (a tie)", either(best, other)),
            rest => format!("{best} (a tie of {})", rest.len() + 1),
        }
    }
}

/// Joins two ways, with what they share said once: "json or oj + zstd -3", "json + lz4 or zstd -3".
fn either(one: &str, other: &str) -> String {
    match (one.rsplit_once(" + "), other.rsplit_once(" + ")) {
        (Some((name, codec)), Some((second, same))) if codec == same => {
            format!("{name} or {second} + {codec}")
        }
        (Some((name, codec)), Some((same, second))) if name == same => {
            format!("{name} + {codec} or {second}")
        }
        _ => format!("{one} or {other}"),
    }
}

fn gain(choice: &Choice) -> Option<String> {
    let gain = choice.gain.as_ref()?;
    if gain.is_same {
        return Some("same as now".to_owned());
    }
    let about = if gain.cost.too_few { "about " } else { "" };
    let is_kept = choice.purpose == "storage";
    if is_kept && gain.size >= GAIN_MIN {
        return Some(format!("{} {SMALLER}", times(gain.size)));
    }
    let word = if is_kept { "cheaper" } else { "faster" };
    (gain.cost.median >= GAIN_MIN).then(|| format!("{about}{} {word}", times(gain.cost.median)))
}

/// Formats a factor: "4.9x", "12x".
pub fn times(factor: f64) -> String {
    match factor {
        factor if factor >= 9.95 => format!("{factor:.0}x"),
        factor => format!("{factor:.1}x"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pick(winners: &[&str]) -> String {
        let winners = winners.iter().map(|one| (*one).to_owned()).collect();
        Pick { winners, gain: String::new(), than: None, timed: 7 }.text()
    }

    #[test]
    fn a_tie_is_called_one() {
        assert_eq!(pick(&["orjson + zstd -3"]), "orjson + zstd -3");
        assert_eq!(pick(&["json", "oj"]), "json or oj (a tie)");
        assert_eq!(pick(&["json + zstd -3", "oj + zstd -3"]), "json or oj + zstd -3 (a tie)");
        assert_eq!(pick(&["json + lz4", "json + zstd -3"]), "json + lz4 or zstd -3 (a tie)");
        assert_eq!(pick(&["json + lz4", "oj"]), "json + lz4 or oj (a tie)");
        assert_eq!(pick(&["json", "oj", "yajl"]), "json (a tie of 3)");
        assert_eq!(pick(&[]), "none of the 7 timed is safe and lossless");
        assert_eq!(none_fits(1), "the one timed is unsafe or lossy");
    }

    #[test]
    fn names_beyond_a_few_are_counted() {
        assert_eq!(listed(&["a", "b"], 2), "a, b");
        assert_eq!(listed(&["a", "b", "c"], 2), "a, b, c");
        assert_eq!(listed(&["a", "b", "c", "d"], 2), "a, b and 2 more");
    }

    #[test]
    fn factors_have_two_digits() {
        assert_eq!(times(4.87), "4.9x");
        assert_eq!(times(9.96), "10x");
        assert_eq!(times(123.4), "123x");
    }
}
