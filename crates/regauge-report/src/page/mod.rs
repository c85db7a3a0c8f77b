//! The page of a measurement, and the frame of every page: head, list of parts, theme, policy.

mod costs;
mod machine;
mod speed;
mod summary;
mod task;
mod trust;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use regauge_measure::{Report, bytes, thousands};
use sha2::{Digest as _, Sha256};

use crate::charts::{Figure, Part};
use crate::text::visible;
use crate::words;

pub use trust::outcome;

const STYLE: &str = include_str!("style.css");
/// The fonts of the charts, so that labels are as wide as they were when they were placed.
const REGULAR: &[u8] = include_bytes!("../fonts/Inter-Regular.woff2");
const SEMIBOLD: &[u8] = include_bytes!("../fonts/Inter-SemiBold.woff2");
const SCRIPT: &str = include_str!("script.js");

/// A part of a page with a heading, reached from the list at the top.
pub(crate) struct Section {
    id: &'static str,
    title: &'static str,
    body: Markup,
    /// Whether it is seen only when it is unfolded.
    folded: bool,
}

impl Section {
    pub fn new(id: &'static str, title: &'static str, body: Markup) -> Option<Section> {
        Some(Section { id, title, body, folded: true })
    }

    /// Returns a section that is open from the start.
    pub fn open(id: &'static str, title: &'static str, body: Markup) -> Option<Section> {
        Some(Section { id, title, body, folded: false })
    }

    fn html(&self) -> Markup {
        let heading = format!("h-{}", self.id);
        html! {
            section id=(self.id) aria-labelledby=(heading) tabindex="-1" {
                @if self.folded {
                    details.part {
                        summary { h2 id=(heading) { (self.title) } }
                        (self.body)
                    }
                } @else {
                    h2 id=(heading) { (self.title) }
                    (self.body)
                }
            }
        }
    }
}

/// Returns the whole page. `tables` are the names of the CSV files beside it; nothing, if there are no
/// files beside it.
pub fn html(report: &Report, figures: &[Figure], tables: Option<&[&str]>) -> String {
    // The answer comes first; with a task, the published comparison is the answer.
    let sections: Vec<Section> = [
        task::section(report, figures),
        summary::section(report, figures),
        summary::reasons(report),
        speed::section(report, figures),
        speed::sizes(report, figures),
        costs::section(report, figures),
        trust::fidelity(report),
        trust::safety(report),
        machine::cold(report),
        machine::noise(report, figures),
        machine::missing(report),
        machine::method(report),
        tables.and_then(|tables| files(figures, tables)),
        summary::unranked(report),
    ]
    .into_iter()
    .flatten()
    .collect();
    let input = &report.input;
    Frame {
        title: visible(&input.name),
        subtitle: "measured by regauge",
        kind: match &report.task {
            Some(task) => format!("regauge measure · task {}", visible(&task.name)),
            None => "regauge measure".to_owned(),
        },
        facts: [
            Some(words::format(&input.format)),
            Some(words::documents(report)),
            (input.bytes > 0).then(|| bytes(input.bytes)),
            Some(visible(&report.machine.processor)),
            Some(format!("{} cores", thousands(report.machine.cores))),
        ]
        .into_iter()
        .flatten()
        .collect(),
        version: visible(&report.regauge),
        made_from: match tables {
            Some(_) => format!(" from results.json, schema {}", visible(&report.schema)),
            None => String::new(),
        },
        answer: "summary",
    }
    .html(&sections)
}

/// What is around the parts of a page. All texts are for people: foreign ones have been through
/// [`visible`].
pub(crate) struct Frame {
    /// What the page is about.
    pub title: String,
    /// What follows it in the title of the window.
    pub subtitle: &'static str,
    /// The command that made the page.
    pub kind: String,
    /// The line below the title.
    pub facts: Vec<String>,
    /// The version of regauge.
    pub version: String,
    /// What the page was made from, for the last line; it begins with a space, or is empty.
    pub made_from: String,
    /// The id of the part with the answer.
    pub answer: &'static str,
}

impl Frame {
    /// Returns a whole page with these parts.
    pub fn html(&self, sections: &[Section]) -> String {
        let style = style();
        let policy = format!(
            "default-src 'none'; style-src '{}'; script-src '{}'; font-src data:; base-uri 'none'; \
             form-action 'none'",
            hash(&style),
            hash(SCRIPT)
        );
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="referrer" content="no-referrer";
                    meta name="generator" content={ "regauge " (self.version) };
                    title { (self.title) " – " (self.subtitle) }
                    style { (PreEscaped(&style)) }
                }
                body {
                    a.skip href={ "#" (self.answer) } { "Skip to the answer" }
                    (self.head())
                    nav aria-label="Parts of this report" {
                        ul {
                            @for section in sections {
                                li { a href={ "#" (section.id) } { (section.title) } }
                            }
                        }
                    }
                    main {
                        @for section in sections { (section.html()) }
                    }
                    footer {
                        p {
                            "Made by regauge " (self.version) (self.made_from)
                            ". This page is self-contained and contacts no server."
                        }
                    }
                    p #said.unseen role="status" aria-live="polite" {}
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        }
        .into_string()
    }

    fn head(&self) -> Markup {
        html! {
            header {
                div {
                    p.kind { (self.kind) }
                    h1 { (self.title) }
                    p.facts { @for fact in &self.facts { span { (fact) } " " } }
                }
                button #theme type="button" hidden { "Theme: system" }
            }
        }
    }
}

/// Returns the style sheet with its fonts.
fn style() -> String {
    let face = |weight: &str, font: &[u8]| {
        format!(
            "@font-face {{ font-family: Inter; font-weight: {weight}; font-display: block; \
             src: url(data:font/woff2;base64,{}) format(\"woff2\"); }}\n",
            STANDARD.encode(font)
        )
    };
    format!("{}{}{STYLE}", face("400", REGULAR), face("600 700", SEMIBOLD))
}

/// Returns the `sha256-…` of a style or script for a content security policy.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// Returns the charts of one part.
fn charts(figures: &[Figure], part: Part) -> Markup {
    html! {
        @for figure in figures.iter().filter(|figure| figure.part == part) { (figure.html()) }
    }
}

fn files(figures: &[Figure], tables: &[&str]) -> Option<Section> {
    let body = html! {
        p { "These files are in the same folder as this page. The tables are in nanoseconds and bytes." }
        ul.files {
            li { a href="results.json" { "results.json" } " – everything, including raw samples; "
                code { "regauge report results.json --out FOLDER" } " rebuilds this page" }
            @for name in tables {
                li { a href={ "tables/" (name) } { "tables/" (name) } }
            }
            @for figure in figures {
                li {
                    (figure.title) ": "
                    a href={ "charts/" (figure.id) ".svg" } { "charts/" (figure.id) ".svg" } ", "
                    a href={ "charts/" (figure.id) ".png" } { ".png" }
                }
            }
        }
    };
    Section::new("files", "Files", body)
}
