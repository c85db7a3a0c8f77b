//! What came out, in plain words, and what a reader must know before anything else.

use maud::{Markup, html};
use regauge_measure::report::{Choice, Row, Verdict};
use regauge_measure::{Report, groups, is_in, sentences};

use super::Section;
use crate::names;
use crate::table::{Tone, tag};
use crate::text::visible;

/// The section.
pub fn section(report: &Report) -> Option<Section> {
    let body = html! {
        (warnings(report))
        @match &report.verdict {
            Some(verdict) => { (verdict_of(verdict)) }
            None if report.is_ranked() => { (groups_of(report)) }
            None => {}
        }
        (notes(report))
    };
    Section::new("summary", "Summary", body)
}

fn warnings(report: &Report) -> Markup {
    let mut warnings = Vec::new();
    if report.interrupted {
        warnings.push(
            "The run was stopped before its end: this is what had been measured till then."
                .to_owned(),
        );
    }
    if let Some(noise) = report.noise.as_ref().filter(|noise| noise.spread > noise.limit) {
        let (spread, limit) = (noise.spread * 100.0, noise.limit * 100.0);
        warnings.push(match &noise.advice {
            Some(advice) => format!(
                "The machine was too noisy to rank anything: the same work took times that spread \
                 by {spread:.1}%, more than {limit:.1}%. {}",
                visible(advice)
            ),
            None => format!(
                "The machine was noisy (the same work spread by {spread:.1}%, more than \
                 {limit:.1}%), and was ranked anyway."
            ),
        });
    }
    let least = report
        .rows
        .iter()
        .filter_map(|row| row.timing.as_ref())
        .flat_map(|timing| [timing.decode.cpu_share, timing.encode.cpu_share])
        .flatten()
        .fold(1.0, f64::min);
    if least < 0.9 {
        warnings.push(format!(
            "The machine was busy with something else: one contender had the processor for only \
             {:.0}% of its time. Trust ratios, not times.",
            least * 100.0
        ));
    }
    html! {
        @for warning in warnings {
            p.warning { strong { "Mind: " } (warning.trim_end()) }
        }
    }
}

fn verdict_of(verdict: &Verdict) -> Markup {
    html! {
        @for (index, sentence) in verdict.summary.iter().enumerate() {
            p.lead[index == 0] { (visible(sentence)) }
        }
        @if !verdict.choices.is_empty() {
            ul.cards {
                @for choice in &verdict.choices { li { (card(choice)) } }
            }
        }
    }
}

fn card(choice: &Choice) -> Markup {
    let purpose = match choice.purpose.as_str() {
        "storage" => "to store",
        "wire" => "to send",
        "cache" => "to keep in a process",
        other => other,
    };
    html! {
        p.over { (visible(choice.runtime.name())) " · " (visible(purpose)) }
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
        @if choice.too_close { p { (tag("too close to call", Tone::Care)) } }
        p.why { (visible(&choice.because)) }
    }
}

/// Without a verdict: who is fastest, for each group.
fn groups_of(report: &Report) -> Markup {
    let cards: Vec<(String, Vec<String>)> = groups(report)
        .into_iter()
        .map(|(runtime, gives)| {
            let is_of_group = |row: &&Row| is_in(row, runtime, gives) && !row.is_floor;
            let rows: Vec<&Row> = report.rows.iter().filter(is_of_group).collect();
            let title = names::group(report, runtime, gives);
            (title, sentences(&rows, report.method.seed))
        })
        .filter(|(_, sentences)| !sentences.is_empty())
        .collect();
    html! {
        @if cards.is_empty() {
            p.lead { "Fewer than two contenders of a runtime were timed, so there is nothing to compare." }
        } @else {
            ul.cards.wide {
                @for (title, sentences) in &cards {
                    li {
                        p.over { (visible(title)) }
                        (with_bold_heads(sentences))
                    }
                }
            }
        }
    }
}

/// Sentences that begin with what they are about: `Decoding: …`.
pub fn with_bold_heads(sentences: &[String]) -> Markup {
    html! {
        @for sentence in sentences {
            p {
                @match sentence.split_once(": ") {
                    Some((head, rest)) => { strong { (visible(head)) ":" } " " (visible(rest)) }
                    None => { (visible(sentence)) }
                }
            }
        }
    }
}

fn notes(report: &Report) -> Markup {
    html! {
        @if !report.notes.is_empty() {
            h3 { "To know" }
            ul.notes { @for note in &report.notes { li { (visible(note)) } } }
        }
    }
}
