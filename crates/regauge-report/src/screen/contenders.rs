//! Shows the best of each runtime in a few columns.

use std::collections::BTreeSet;

use regauge_measure::report::{Row, Timing};
use regauge_measure::stats::Estimate;
use regauge_measure::{Gives, Report, Runtime, cost, groups, is_in};

use super::line::{Line, Style, bar, cut, width};
use super::{COLUMNS_MIN, SHOWN_MAX};
use crate::table::Tone;
use crate::text::visible;
use crate::words;

/// Characters of the longest bar.
const BAR: usize = 4;
/// Marks a time that is made of too few samples for an interval.
const FEW: char = '~';
/// A name is cut rather than shown in fewer characters.
const NAME_MIN: usize = 14;
/// What a contender keeps is cut to so many characters, so that names differ: the words are in `--full`.
const KEEPS_MIN: usize = 8;

/// The contenders of one runtime that give the same.
struct Group<'r> {
    title: String,
    rows: Vec<&'r Row>,
    /// The best for some use, and what the gains are compared with: they are shown whatever their place.
    wanted: Vec<String>,
}

/// A row as it is printed.
struct Shown {
    name: String,
    decode: String,
    encode: String,
    bar: String,
    bytes: String,
    keeps: (String, Tone),
    hostile: (String, Tone),
}

/// Returns a table for each runtime, as many rows of each as there is room for.
pub fn lines(report: &Report, width_max: usize, room: usize) -> Vec<Line> {
    let groups: Vec<Group> = grouped(report);
    if groups.is_empty() {
        return Vec::new();
    }
    if room == usize::MAX {
        return tables(report, &groups, width_max, Spacing { rows: usize::MAX, ..AIRY });
    }
    // Empty lines between the tables are worth more than a fourth row.
    let airy = (3..=SHOWN_MAX).rev().map(|rows| Spacing { rows, ..AIRY });
    let dense = (1..=3).rev().flat_map(|rows| {
        [(false, true), (false, false)].map(|(apart, each)| Spacing { rows, apart, each })
    });
    let fitting = airy
        .chain(dense)
        .map(|spacing| tables(report, &groups, width_max, spacing))
        .find(|lines| lines.len() <= room);
    if let Some(lines) = fitting {
        return lines;
    }
    // Too many runtimes for a screen: those that have room, and how many more there are.
    (0..groups.len())
        .rev()
        .map(|count| {
            let spacing = Spacing { rows: 1, apart: false, each: false };
            let mut lines = tables(report, &groups[..count], width_max, spacing);
            if lines.is_empty() {
                lines.push(Line::default());
            }
            let more = groups.len() - count;
            lines.push(Line::of(format!("{more} more tables: --full"), Style::Faint));
            lines
        })
        .find(|lines| lines.len() <= room)
        .unwrap_or_default()
}

/// How much room the tables take.
#[derive(Clone, Copy)]
struct Spacing {
    /// Rows of each.
    rows: usize,
    /// Whether empty lines separate them.
    apart: bool,
    /// Whether each table says how many rows it hides, instead of one line for all.
    each: bool,
}

const AIRY: Spacing = Spacing { rows: SHOWN_MAX, apart: true, each: true };

fn grouped(report: &Report) -> Vec<Group<'_>> {
    groups(report)
        .into_iter()
        .filter(|(_, gives)| *gives != Gives::Tree)
        .map(|(runtime, gives)| group(report, runtime, gives))
        .filter(|group| group.rows.iter().any(|row| row.is_timed()))
        .collect()
}

fn group(report: &Report, runtime: Runtime, gives: Gives) -> Group<'_> {
    let is_of_group = |row: &&Row| is_in(row, runtime, gives);
    let rows: Vec<&Row> = report.rows.iter().filter(is_of_group).collect();
    let version = rows.iter().map(|row| row.runtime_version.as_str()).find(|one| !one.is_empty());
    let title = visible(version.unwrap_or(runtime.name()));
    let title = if gives == Gives::Record { format!("{title}, records") } else { title };
    let choices = report.verdict.iter().flat_map(|verdict| &verdict.choices);
    let winners = choices
        .filter(|choice| choice.runtime == runtime && choice.gives == gives)
        .filter_map(|choice| choice.winners.first().cloned());
    let fields = report.verdict.iter().flat_map(|verdict| &verdict.fields);
    let now = fields
        .filter(|field| field.runtime == runtime && field.gives == gives)
        .filter_map(|field| field.now.clone());
    let wanted = winners.chain(now).collect();
    Group { title, rows, wanted }
}

impl Group<'_> {
    /// Returns the rows to show: the fastest, the first choice for each use, what the gains are compared
    /// with, then the next fastest, in order of their times.
    fn chosen(&self, count: usize) -> Vec<&Row> {
        let timed: Vec<&Row> = self.rows.iter().copied().filter(|row| row.is_timed()).collect();
        if timed.len() <= count {
            return timed;
        }
        let is_named = |row: &Row, label: &str| {
            label.strip_prefix(&visible(&row.contender)).is_some_and(|rest| {
                let is_whole = rest.is_empty() || rest.starts_with(" + ");
                is_whole
                    || rest.strip_prefix(" (").is_some_and(|rest| rest.starts_with(&row.format))
            })
        };
        let named = |label: &String| timed.iter().position(|row| is_named(row, label));
        let mut places = vec![0];
        for place in self.wanted.iter().filter_map(named).chain(0..timed.len()) {
            if !places.contains(&place) && places.len() < count {
                places.push(place);
            }
        }
        places.sort_unstable();
        places.into_iter().map(|place| timed[place]).collect()
    }
}

fn tables(report: &Report, groups: &[Group], width_max: usize, spacing: Spacing) -> Vec<Line> {
    let shown: Vec<Vec<Shown>> =
        groups.iter().map(|group| shown_rows(report, &group.chosen(spacing.rows))).collect();
    let layout = Columns::new(report, groups, &shown, width_max);
    let mut lines = Vec::new();
    for (index, (group, rows)) in groups.iter().zip(&shown).enumerate() {
        if spacing.apart || index == 0 {
            lines.push(Line::default());
        }
        lines.push(layout.head(&group.title));
        lines.extend(rows.iter().map(|row| layout.row(row)));
        if spacing.each {
            lines.extend(more(group, rows.len(), layout.end));
        }
    }
    let hidden: usize =
        groups.iter().zip(&shown).map(|(group, rows)| group.rows.len() - rows.len()).sum();
    if !spacing.each && hidden > 0 {
        let mut line = Line::of(" …", Style::Faint);
        line.push_to(layout.end, format!("({hidden} more: --full)"), Style::Faint);
        lines.push(line);
    }
    if shown.iter().flatten().any(|row| row.decode.starts_with(FEW) || row.encode.starts_with(FEW))
    {
        lines.push(Line::of(format!(" {FEW} too few samples for an interval"), Style::Faint));
    }
    lines
}

/// Returns a line with the number of rows that are not shown.
fn more(group: &Group, shown: usize, end: usize) -> Option<Line> {
    let timed = group.rows.iter().filter(|row| row.is_timed()).count();
    let untimed = group.rows.len() - timed;
    let text = match (timed - shown, untimed) {
        (0, 0) => return None,
        (0, untimed) => format!("({untimed} without times: --full)"),
        (more, 0) => format!("({more} more: --full)"),
        (more, untimed) => format!("({more} more, {untimed} without times: --full)"),
    };
    let mut line = Line::of(" …", Style::Faint);
    line.push_to(end, text, Style::Faint);
    Some(line)
}

fn shown_rows(report: &Report, rows: &[&Row]) -> Vec<Shown> {
    let total = |row: &Row| row.timing.as_ref().map_or(0.0, |timing| timing.total_ns.median);
    let slowest = rows.iter().map(|row| total(row)).fold(0.0, f64::max);
    rows.iter()
        .map(|row| {
            let timing = row.timing.as_ref();
            let time = |of: fn(&Timing) -> Estimate| match timing.map(of) {
                None => "–".to_owned(),
                Some(one) if one.too_few => format!("{FEW}{}", short_time(one.median)),
                Some(one) => short_time(one.median),
            };
            let share = if slowest > 0.0 { total(row) / slowest } else { 0.0 };
            Shown {
                name: visible(&row.contender),
                decode: time(|timing| timing.decode.estimate_ns),
                encode: time(|timing| timing.encode.estimate_ns),
                bar: bar(((share * (BAR * 8) as f64).round() as usize).clamp(1, BAR * 8)),
                bytes: packed(report, row).map_or_else(|| "–".to_owned(), regauge_measure::bytes),
                keeps: words::keeps(report, row),
                hostile: words::hostile(row),
            }
        })
        .collect()
}

/// Returns the compression that the column of bytes shows: zstd, else gzip, else none.
fn codec(report: &Report) -> Option<&str> {
    let has = |wanted: &str| {
        let all = report.references.iter().flat_map(|one| &one.compressions);
        all.map(|one| one.codec.as_str()).find(|codec| codec.starts_with(wanted))
    };
    has("zstd").or_else(|| has("gzip"))
}

/// Returns the compressed size of a contender's output.
fn packed(report: &Report, row: &Row) -> Option<u64> {
    match codec(report) {
        Some(codec) => cost::compressed(report, row, codec),
        None => row.output_bytes,
    }
}

/// Formats a time with two or three digits: "58 µs", "1.2 ms".
fn short_time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns >= 0.9995e9 => (ns / 1e9, "s"),
        ns if ns >= 0.9995e6 => (ns / 1e6, "ms"),
        ns if ns >= 0.9995e3 => (ns / 1e3, "µs"),
        ns => (ns, "ns"),
    };
    if value < 9.95 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// The positions of the columns of all tables, and which of them fit.
struct Columns {
    name: usize,
    /// Ends of decode and encode.
    times: [usize; 2],
    bar: Option<usize>,
    /// The end of the bytes.
    bytes: Option<usize>,
    keeps: Option<usize>,
    keeps_width: usize,
    hostile: Option<usize>,
    end: usize,
    bytes_head: String,
}

impl Columns {
    fn new(report: &Report, groups: &[Group], shown: &[Vec<Shown>], width_max: usize) -> Columns {
        let widest = |of: fn(&Shown) -> &str, least: usize| {
            shown.iter().flatten().map(|row| width(of(row))).fold(least, usize::max)
        };
        // The size under the name of what compressed it: "zstd -3".
        let bytes_head = codec(report).map_or_else(|| "size".to_owned(), visible);
        let times = [widest(|row| &row.decode, 6), widest(|row| &row.encode, 6)];
        let bytes = widest(|row| &row.bytes, width(&bytes_head));
        let keeps = widest(|row| &row.keeps.0, 5);
        let hostile = widest(|row| &row.hostile.0, 13);
        let titles = groups.iter().map(|group| width(&group.title)).max().unwrap_or(0);
        let wish = (widest(|row| &row.name, 8) + 1).max(titles);
        let unique = unique_width(shown, wish);
        let fixed = times[0] + times[1] + 4;
        let others = fixed + BAR + 2 + bytes + 2 + hostile + 2;
        let keeps_width = keeps.min(width_max.saturating_sub(others + unique + 2).max(KEEPS_MIN));
        // What gives way on a narrow screen, the least important first.
        let parts = [BAR + 2, bytes + 2, keeps_width + 2, hostile + 2];
        let room = |kept: &[bool; 4]| {
            let taken: usize =
                parts.iter().zip(kept).map(|(part, kept)| part * usize::from(*kept)).sum();
            width_max.checked_sub(fixed + taken)
        };
        let least = wish.min(NAME_MIN).max(unique);
        let choices = [
            ([true, true, true, true], wish.min(NAME_MIN + 4).max(unique)),
            ([false, true, true, true], least),
            ([false, false, true, true], least),
            ([false, false, false, true], least),
        ];
        let kept = choices
            .iter()
            .find(|(kept, least)| room(kept).is_some_and(|room| room >= *least))
            .map_or([false; 4], |(kept, _)| *kept);
        let free = room(&kept).unwrap_or(0);
        // A wide terminal does not tear the names from their figures.
        let name = wish.min(free).max(1);
        let mut at = name;
        let mut right = |part: usize| {
            at += part + 2;
            at
        };
        let times = [right(times[0]), right(times[1])];
        let bar = kept[0].then(|| right(BAR) - BAR);
        let bytes = kept[1].then(|| right(bytes));
        let keeps = kept[2].then(|| right(keeps_width) - keeps_width);
        let hostile = kept[3].then(|| right(hostile) - hostile);
        let end = if width_max < COLUMNS_MIN { width_max } else { at };
        Columns { name, times, bar, bytes, keeps, keeps_width, hostile, end, bytes_head }
    }

    fn head(&self, title: &str) -> Line {
        let mut line = Line::of(cut(title, self.name), Style::Strong);
        for (place, head) in self.times.iter().zip(["decode", "encode"]) {
            line.push_to(*place, head, Style::Faint);
        }
        if let Some(place) = self.bytes {
            line.push_to(place, self.bytes_head.clone(), Style::Faint);
        }
        if let Some(place) = self.keeps {
            line.push_at(place, "keeps", Style::Faint);
        }
        if let Some(place) = self.hostile {
            line.push_at(place, "hostile input", Style::Faint);
        }
        line
    }

    fn row(&self, row: &Shown) -> Line {
        let mut line = Line::of(format!(" {}", cut(&row.name, self.name - 1)), Style::Plain);
        for (place, time) in self.times.iter().zip([&row.decode, &row.encode]) {
            line.push_to(*place, time.clone(), Style::Plain);
        }
        if let Some(place) = self.bar {
            line.push_at(place, row.bar.clone(), Style::Faint);
        }
        if let Some(place) = self.bytes {
            line.push_to(place, row.bytes.clone(), Style::Plain);
        }
        if let Some(place) = self.keeps {
            line.push_at(place, cut(&row.keeps.0, self.keeps_width), style(row.keeps.1));
        }
        if let Some(place) = self.hostile {
            line.push_at(place, row.hostile.0.clone(), style(row.hostile.1));
        }
        line
    }
}

/// Returns the least width of the column of names, up to `most`, in which those of each table differ.
fn unique_width(shown: &[Vec<Shown>], most: usize) -> usize {
    let differ = |rows: &Vec<Shown>, room: usize| {
        let names: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        let short: BTreeSet<String> = names.iter().map(|name| cut(name, room)).collect();
        short.len() == names.len()
    };
    (2..most).find(|width| shown.iter().all(|rows| differ(rows, width - 1))).unwrap_or(most)
}

fn style(tone: Tone) -> Style {
    match tone {
        Tone::Good | Tone::Plain => Style::Plain,
        Tone::Care => Style::Care,
        Tone::Bad => Style::Bad,
    }
}
