//! Shows a measurement on a terminal: the answer on one screen, and the rest on request.

mod contenders;
mod ending;
mod line;
mod task;

use regauge_measure::{Report, bytes, thousands};

use crate::answer::{self, Pick, USES};
use crate::text::label;
use crate::words;

pub use line::wrapped;
use line::{Line, Style, width};

/// The width without a terminal.
const WIDTH: usize = 80;
/// Narrower than this, nothing can be laid out.
pub const WIDTH_MIN: usize = 24;
/// Below this width the uses are listed one below the other.
const COLUMNS_MIN: usize = 64;
/// Lines of a screen.
const LINES: usize = 45;
/// Most contenders of a runtime that are shown.
const SHOWN_MAX: usize = 8;

/// How the text is laid out.
#[derive(Debug, Clone, Copy, Default)]
pub struct View {
    /// Columns of the terminal; nothing for 80.
    pub width: Option<u16>,
    /// All contenders, and as many lines as that takes.
    pub full: bool,
    /// Whether the terminal takes colours.
    pub colours: bool,
    /// Lines that the caller prints after these; they count as part of the screen.
    pub reserved: usize,
}

impl View {
    fn width(self) -> usize {
        self.width.map_or(WIDTH, usize::from).max(WIDTH_MIN)
    }
}

/// Renders the first screen: what was measured, what to use, and the best of each runtime. At most
/// 45 lines, or all contenders with `full`.
#[must_use]
pub fn screen(report: &Report, view: View) -> String {
    let width = view.width();
    let mut lines = head(report, width);
    let room = if view.full { usize::MAX } else { LINES.saturating_sub(view.reserved) };
    if let Some(task) = &report.task {
        let left = room.saturating_sub(lines.len() + 1);
        lines.push(Line::default());
        lines.extend(task::lines(task, width, left));
    }
    let mut answer = answer_lines(report, width);
    if !answer.is_empty() {
        answer.insert(0, Line::default());
    }
    let mut rest = answer.clone();
    // With all contenders, the sections that follow name those without a rank.
    let ending = if view.full { Vec::new() } else { ending::lines(report, width) };
    let left = room.saturating_sub(lines.len() + rest.len() + ending.len());
    rest.extend(contenders::lines(report, width, left));
    rest.extend(ending);
    if lines.len() + rest.len() > room {
        // The answer is always shown in full, unless a task's tables fill the screen.
        let fits = lines.len() + answer.len() <= room;
        rest = match fits || report.task.is_none() {
            true => answer,
            false => vec![Line::of("What to use in each runtime: --full", Style::Faint)],
        };
    }
    lines.extend(rest);
    let mut text = String::new();
    for line in lines {
        text.push_str(&line.render(width, view.colours));
        text.push('\n');
    }
    text
}

/// Returns what was measured, and how many libraries took part.
fn head(report: &Report, width_max: usize) -> Vec<Line> {
    let input = &report.input;
    let mut facts = vec![words::format(&input.format), words::documents(report)];
    if input.bytes > 0 {
        facts.push(bytes(input.bytes));
    }
    let facts = format!(": {}", facts.join(", "));
    let name_max = width_max.saturating_sub(width(&facts)).max(12);
    let mut first = Line::of(label(&input.name, name_max), Style::Strong);
    first.push(facts, Style::Plain);
    let counts = counts(report);
    let mut lines = vec![first];
    if !counts.is_empty() {
        if lines[0].width() + 2 + width(&counts) <= width_max {
            lines[0].push_to(width_max, counts, Style::Faint);
        } else {
            lines.extend(wrapped(&counts, width_max).into_iter().map(faint));
        }
    }
    for remark in remarks(report) {
        lines.extend(wrapped(&remark, width_max).into_iter().map(|one| Line::of(one, Style::Care)));
    }
    lines
}

fn faint(text: String) -> Line {
    Line::of(text, Style::Faint)
}

/// Returns text such as "88 libraries timed, 23 not installed".
fn counts(report: &Report) -> String {
    let (timed, found) = answer::totals(report);
    let mut parts = Vec::new();
    match found {
        0 => {}
        1 if timed == 1 => parts.push("1 library timed".to_owned()),
        _ if timed == found => parts.push(format!("{timed} libraries timed")),
        _ => parts.push(format!("{timed} of {found} libraries timed")),
    }
    if !report.missing.is_empty() {
        parts.push(format!("{} not installed", report.missing.len()));
    }
    parts.join(", ")
}

/// Returns what a reader must know before the answer.
fn remarks(report: &Report) -> Vec<String> {
    let (mut list, method) = (Vec::new(), &report.method);
    if report.interrupted {
        list.push("Interrupted: these are the results so far.".to_owned());
    }
    list.extend(words::part(report));
    if method.every > 1 && report.rows.iter().any(regauge_measure::report::Row::is_timed) {
        list.push(format!(
            "Timed on {} of them, evenly spread; {}.",
            thousands(method.timed_documents),
            method.beyond_the_part()
        ));
    }
    list
}

/// Returns the table of runtimes and uses: what to use, and what that saves.
fn answer_lines(report: &Report, width_max: usize) -> Vec<Line> {
    let answer = answer::lines(report);
    if answer.is_empty() {
        return Vec::new();
    }
    if width_max < COLUMNS_MIN {
        let mut lines = stacked(&answer, width_max);
        lines.extend(legend(&answer, width_max));
        return lines;
    }
    let name_width = answer.iter().map(|line| width(&line.name)).max().unwrap_or(0).min(18) + 2;
    let column = (width_max - name_width) / USES.len();
    let place = |index: usize| name_width + index * column;
    let mut lines = vec![Line::default()];
    for (index, (_, title)) in USES.iter().enumerate() {
        lines[0].push_at(place(index), *title, Style::Faint);
    }
    for one in &answer {
        // Text that applies to all uses spans their columns.
        let cells: Vec<Vec<(String, Style)>> = match one.picks() {
            Some(picks) => picks.iter().map(|pick| cell(pick, column - 2)).collect(),
            None => {
                let why = wrapped(&one.without_winner(), width_max - name_width);
                vec![why.into_iter().map(|text| (text, Style::Care)).collect()]
            }
        };
        for row in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let mut line = Line::default();
            if row == 0 {
                line.push(line::cut(&one.name, name_width - 2), Style::Strong);
            }
            for (index, cell) in cells.iter().enumerate() {
                if let Some((text, style)) = cell.get(row) {
                    line.push_at(place(index), text.clone(), *style);
                }
            }
            lines.push(line);
        }
    }
    lines.extend(legend(&answer, width_max));
    lines
}

/// Says what the gains are over, in a line if that is possible.
fn legend(answer: &[answer::Line], width_max: usize) -> Vec<Line> {
    const WORDS: [&str; 3] = ["smaller", "cheaper", "faster"];
    let with_gains: Vec<&answer::Line> = answer
        .iter()
        .filter(|line| {
            let picks = line.picks().unwrap_or_default();
            picks.iter().any(|pick| WORDS.iter().any(|word| pick.gain.ends_with(word)))
        })
        .collect();
    let mut than: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in &with_gains {
        let Some(now) = line.now.as_deref() else { continue };
        match than.iter_mut().find(|(known, _)| *known == now) {
            Some((_, names)) => names.push(&line.name),
            None => than.push((now, vec![&line.name])),
        }
    }
    // What most have needs no names.
    than.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let Some(((now, _), others)) = than.split_first() else { return Vec::new() };
    let others: Vec<String> =
        others.iter().map(|(now, names)| format!("{}: {now}", names.join(", "))).collect();
    let others =
        if others.is_empty() { String::new() } else { format!(" ({})", others.join("; ")) };
    let text = format!("Smaller, faster: than {now}{others}, uncompressed");
    let short = "Smaller, faster: than the usual library for this format, uncompressed";
    let fitting = [text.as_str(), short].into_iter().find(|text| width(text) <= width_max);
    wrapped(fitting.unwrap_or(&text), width_max).into_iter().map(faint).collect()
}

/// Returns a pick in a column: the winner, and below it what it saves.
fn cell(pick: &Pick, width_max: usize) -> Vec<(String, Style)> {
    let style = if pick.winners.is_empty() { Style::Care } else { Style::Strong };
    // A compressor stays with its level.
    let text = pick.text().replace(" + ", " +\u{a0}").replace(" -", "\u{a0}-");
    // So does a tie with its number.
    let text = text.replace("(a tie", "(a\u{a0}tie").replace("tie of ", "tie\u{a0}of\u{a0}");
    let winners = wrapped(&text, width_max).into_iter().map(|text| (text, style));
    let gain = wrapped(&pick.gain, width_max).into_iter().map(|text| (text, Style::Faint));
    winners.chain(gain).collect()
}

/// Returns the answer for a narrow terminal: the uses below each other.
fn stacked(answer: &[answer::Line], width_max: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for one in answer {
        lines.push(Line::of(one.name.clone(), Style::Strong));
        let mut add = |text: String, style: Style| {
            for (index, text) in wrapped(&text, width_max - 4).into_iter().enumerate() {
                lines.push(Line::of(format!("{}{text}", [" ", "   "][index.min(1)]), style));
            }
        };
        let Some(picks) = one.picks() else {
            add(one.without_winner(), Style::Care);
            continue;
        };
        for ((_, title), pick) in USES.iter().zip(picks) {
            let gain =
                if pick.gain.is_empty() { String::new() } else { format!(", {}", pick.gain) };
            add(format!("{title}: {}{gain}", pick.text()), Style::Plain);
        }
    }
    lines
}
