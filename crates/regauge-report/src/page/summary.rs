//! The section with the answer, and what a reader must know before anything else.

use maud::{Markup, html};
use regauge_measure::report::{Choice, Row};
use regauge_measure::{Report, thousands};

use super::{Section, charts};
use crate::answer::{self, Line, Pick, USES};
use crate::charts::{Figure, Part};
use crate::table::{Tone, is_long, tag};
use crate::text::{prose, visible};
use crate::words::{self, busy, without_times};

/// Returns the section: what to use in each runtime for each purpose, and size against time.
pub fn section(report: &Report, figures: &[Figure]) -> Option<Section> {
    let answer = answer::lines(report);
    let body = html! {
        (warnings(report))
        @if answer.is_empty() {
            @if report.task.is_none() { p.lead { (nothing(report)) } }
        } @else {
            (table(&answer))
            (assumptions(report))
        }
        (charts(figures, Part::Answer))
        (notes(report))
    };
    let title = if report.task.is_some() { "What to use" } else { "The answer" };
    let is_empty = answer.is_empty() && report.task.is_some() && report.rows.is_empty();
    Section::open("summary", if is_empty { "Good to know" } else { title }, body)
}

/// Says why there is no answer at all.
fn nothing(report: &Report) -> &'static str {
    match report.rows.iter().any(Row::is_timed) {
        true => "Libraries were timed, but none is recommended.",
        false => "No library was timed, so there is nothing to compare.",
    }
}

fn table(answer: &[Line]) -> Markup {
    html! {
        div.box {
            table.answer.stack {
                caption.unseen { "What to use in each runtime, for each use" }
                thead { tr {
                    th scope="col" { "runtime" }
                    @for (_, title) in USES { th scope="col" { (title) } }
                } }
                tbody {
                    @for line in answer {
                        tr {
                            th.long[is_long(&line.name)] scope="row" {
                                (line.name) " "
                                small { (thousands(line.timed)) " of " (thousands(line.found)) " timed" }
                            }
                            @if let Some(picks) = line.picks() {
                                @for (pick, (_, title)) in picks.iter().zip(USES) {
                                    td.long[is_long(&pick.text()) || is_long(&pick.gain_over())] data-l=(title) { (cell(pick)) }
                                }
                            } @else {
                                td.care.long[is_long(&line.why_none())] colspan="3" { "No answer: " (line.why_none()) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cell(pick: &Pick) -> Markup {
    let text = pick.text();
    let (text, tie) = match text.rsplit_once(" (") {
        Some((text, tie)) if pick.winners.len() > 1 => (text, tie.trim_end_matches(')')),
        _ => (text.as_str(), ""),
    };
    html! {
        @if pick.winners.is_empty() { (text) } @else { strong { (text) } }
        @if !tie.is_empty() { " " (tag(tie, Tone::Care)) }
        @if !pick.gain.is_empty() { " " small { (pick.gain_over()) } }
    }
}

/// Returns the assumptions about the uses, in a line.
fn assumptions(report: &Report) -> Markup {
    let assumed = report.costs.as_ref().map(|costs| &costs.assumed);
    html! {
        @if let Some(assumed) = assumed {
            p.legend {
                "To store: " (assumed.store_months) " months, " (assumed.reads_per_write)
                " reads per write. To send: " (regauge_measure::cost::bandwidth_text(assumed.bandwidth))
                ". Savings are relative to what you have now: the file's own format with the runtime's own library."
            }
        }
    }
}

fn warnings(report: &Report) -> Markup {
    let mut warnings = Vec::new();
    if report.interrupted {
        warnings.push("Interrupted: these are the results so far.".to_owned());
    }
    warnings.extend(words::part(report));
    warnings.extend(report.busy_share().map(busy));
    html! {
        @for warning in warnings {
            p.warning { strong { "Note: " } (warning) }
        }
    }
}

fn notes(report: &Report) -> Markup {
    html! {
        @if !report.notes.is_empty() {
            details.legend {
                summary {
                    (thousands(report.notes.len() as u64))
                    @if report.notes.len() == 1 { " note" } @else { " notes" }
                    " on this run"
                }
                ul.notes { @for note in &report.notes { li { (prose(note)) } } }
            }
        }
    }
}

/// Returns the section on how each use was weighed, and what was left out and why.
pub fn reasons(report: &Report) -> Option<Section> {
    let verdict = report.verdict.as_ref()?;
    if verdict.choices.is_empty() && verdict.summary.is_empty() {
        return None;
    }
    let body = html! {
        @if !verdict.choices.is_empty() {
            ul.cards { @for choice in &verdict.choices { li { (card(choice)) } } }
        }
        @if !verdict.summary.is_empty() {
            h3 { "Summary" }
            ul.notes { @for sentence in &verdict.summary { li { (prose(sentence)) } } }
        }
    };
    Section::new("reasons", "Reasons", body)
}

fn card(choice: &Choice) -> Markup {
    let purpose = USES.iter().find(|(purpose, _)| *purpose == choice.purpose);
    let purpose = purpose.map_or(choice.purpose.as_str(), |(_, title)| title);
    html! {
        p.over { (answer::name(choice.runtime, choice.gives)) " · " (visible(purpose)) }
        p.winner {
            @match choice.winners.as_slice() {
                [] => { "none" }
                [best, rest @ ..] => {
                    (visible(best))
                    @for other in rest.iter().take(3) { span.also { " or " (visible(other)) } }
                    @if rest.len() > 3 { span.also { " or " (rest.len() - 3) " more" } }
                }
            }
        }
        @if choice.too_close { p { (tag("a tie", Tone::Care)) } }
        p.why { (prose(&choice.because)) }
    }
}

/// Returns a short list of what is not ranked.
pub fn unranked(report: &Report) -> Option<Section> {
    let rows: Vec<&Row> = report.rows.iter().filter(|row| !row.is_timed()).collect();
    if rows.is_empty() && report.missing.is_empty() {
        return None;
    }
    let group = |wanted: &str| -> Vec<String> {
        let rows = rows.iter().filter(|row| without_times(row) == wanted);
        rows.map(|row| named(&row.contender, row.runtime.name())).collect()
    };
    let mut missing: Vec<_> = report.missing.iter().collect();
    missing.sort_by_key(|one| !one.usual);
    let missing: Vec<String> =
        missing.iter().map(|one| named(&one.contender, one.runtime.name())).collect();
    let lists = [
        ("Wrong data", group("wrong data")),
        ("Failed", group("failed")),
        ("Too slow", group("too slow")),
        ("Not timed", group("not timed")),
        ("Not installed", missing),
    ];
    let body = html! {
        dl.facts {
            @for (title, names) in lists.iter().filter(|(_, names)| !names.is_empty()) {
                dt { (title) " (" (names.len()) ")" }
                dd { (names.join(", ")) }
            }
        }
    };
    Section::open("unranked", "Not ranked", body)
}

fn named(contender: &str, runtime: &str) -> String {
    format!("{} ({})", visible(contender), visible(runtime))
}

/// Sentences that begin with what they are about: `Decoding: …`.
pub fn with_bold_heads(sentences: &[String]) -> Markup {
    html! {
        @for sentence in sentences {
            p {
                @match sentence.split_once(": ") {
                    Some((head, rest)) => { strong { (prose(head)) ":" } " " (prose(rest)) }
                    None => { (prose(sentence)) }
                }
            }
        }
    }
}
