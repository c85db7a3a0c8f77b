//! A table in the page: sortable, with a caption. On a phone its rows are shown as cards, so that
//! no column is cut off and nothing scrolls inside the page.

use maud::{Markup, html};
use regauge_measure::stats::Estimate;
use regauge_measure::thousands;

use crate::text::{Unit, margin, visible};

/// A table.
#[derive(Debug, Clone)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Its columns; the first names the row.
    pub columns: Vec<Column>,
    /// Its rows, each with a cell for every column.
    pub rows: Vec<Vec<Cell>>,
    /// Whether the caption is only for screen readers, because a heading says the same.
    pub headed: bool,
}

/// A column.
#[derive(Debug, Clone)]
pub struct Column {
    head: String,
    numeric: bool,
    more_is_better: bool,
}

/// A cell.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    text: String,
    /// Text of equal weight after it.
    beside: Option<String>,
    /// Smaller, below.
    below: Option<String>,
    /// Marks after the text: a word and its tone.
    tags: Vec<(String, Tone)>,
    /// What it is sorted by, instead of its text.
    key: Option<f64>,
    /// A bar of this share of the column's width.
    bar: Option<f64>,
    code: bool,
    tone: Option<Tone>,
}

/// The tone of something, never shown by colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// As it should be.
    Good,
    /// To be looked at.
    Care,
    /// As it should not be.
    Bad,
    /// By the way.
    Plain,
}

impl Tone {
    fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Care => "care",
            Tone::Bad => "bad",
            Tone::Plain => "plain",
        }
    }
}

/// Returns a mark after a word: `<span class="tag …">`.
pub fn tag(text: &str, tone: Tone) -> Markup {
    html! { span class={ "tag " (tone.class()) } { (text) } }
}

impl Cell {
    /// Returns a cell with foreign or own text.
    pub fn text(text: impl AsRef<str>) -> Cell {
        Cell { text: visible(text.as_ref()), ..Cell::default() }
    }

    /// Returns a path or a value of a document.
    pub fn code(text: impl AsRef<str>) -> Cell {
        Cell { code: true, ..Cell::text(text) }
    }

    /// Returns an empty cell.
    pub fn none() -> Cell {
        Cell { text: "–".to_owned(), key: Some(f64::INFINITY), ..Cell::default() }
    }

    /// Returns a figure.
    pub fn figure(value: f64, unit: &Unit) -> Cell {
        Cell { text: unit.figure(value), key: Some(value), ..Cell::default() }
    }

    /// Returns a number of things.
    pub fn count(count: u64) -> Cell {
        Cell { text: thousands(count), key: Some(count as f64), ..Cell::default() }
    }

    /// Returns a figure, or nothing.
    pub fn maybe(value: Option<f64>, unit: &Unit) -> Cell {
        value.map_or_else(Cell::none, |value| Cell::figure(value, unit))
    }

    /// Returns a median with its margin below.
    pub fn estimate(estimate: &Estimate, unit: &Unit) -> Cell {
        Cell::figure(estimate.median, unit).below(margin(estimate))
    }

    /// Returns a ratio with its interval below.
    pub fn ratio(ratio: &Estimate) -> Cell {
        let cell = Cell::figure(ratio.median, &Unit::Ratio);
        if ratio.too_few {
            return cell.below("too few");
        }
        if ratio.low == ratio.high {
            return cell;
        }
        cell.below(format!("{:.2}–{:.2}", ratio.low, ratio.high))
    }

    /// Adds smaller text below.
    pub fn below(mut self, text: impl AsRef<str>) -> Cell {
        self.below = Some(visible(text.as_ref())).filter(|text| !text.is_empty());
        self
    }

    /// Adds more of the smaller text.
    pub fn also(self, text: impl AsRef<str>) -> Cell {
        let below = match &self.below {
            Some(below) => format!("{below}, {}", text.as_ref()),
            None => text.as_ref().to_owned(),
        };
        self.below(below)
    }

    /// Adds a figure of equal weight beside it.
    pub fn emphasis(mut self, text: impl AsRef<str>) -> Cell {
        self.beside = Some(visible(text.as_ref()));
        self
    }

    /// Sets the sort key.
    pub fn key(mut self, key: f64) -> Cell {
        self.key = Some(key);
        self
    }

    /// Adds a mark after the text.
    pub fn tag(mut self, text: impl AsRef<str>, tone: Tone) -> Cell {
        self.tags.push((visible(text.as_ref()), tone));
        self
    }

    /// Adds a bar of this share, 0 to 1.
    pub fn bar(mut self, share: f64) -> Cell {
        self.bar = share.is_finite().then(|| share.clamp(0.0, 1.0));
        self
    }

    /// Sets the tone.
    pub fn tone(mut self, tone: Tone) -> Cell {
        self.tone = Some(tone);
        self
    }

    fn inner(&self) -> Markup {
        html! {
            @if self.code { code { (breakable(&self.text)) } } @else { (self.text) }
            @if let Some(beside) = &self.beside { " " b { (beside) } }
            @for (text, tone) in &self.tags { " " (tag(text, *tone)) }
            @if let Some(below) = &self.below { " " small { (below) } }
            @if let Some(share) = self.bar {
                svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" {
                    rect width="100" height="4" {}
                    rect width=(format!("{:.1}", share * 100.0)) height="4" {}
                }
            }
        }
    }
}

/// What paths and names of classes are made of.
const SEPARATORS: [char; 4] = [':', '/', '|', '.'];

/// Returns text that a browser may break after the separators of paths and names, sooner than anywhere.
pub fn breakable(text: &str) -> Markup {
    let mut pieces = text.split_inclusive(SEPARATORS).peekable();
    let mut parts = Vec::new();
    while let Some(piece) = pieces.next() {
        // `::` and `1.5` stay whole.
        let stays = |next: char| {
            next.is_whitespace() || next.is_ascii_digit() || SEPARATORS.contains(&next)
        };
        let may_break = pieces.peek().is_some_and(|next| !next.starts_with(stays));
        parts.push((piece, may_break));
    }
    html! {
        @for (piece, may_break) in parts { (piece) @if may_break { wbr; } }
    }
}

/// Words longer than this may be broken; names of libraries are shorter.
const WORD_MAX: usize = 20;
/// Tables of more columns become cards on a phone.
const COLUMNS_MAX: usize = 3;

/// Returns whether a text holds a word that may have to be broken to fit a column.
pub fn is_long(text: &str) -> bool {
    text.split_whitespace().any(|word| word.chars().count() > WORD_MAX)
}

/// Returns the class of a cell.
fn class(numeric: bool, cell: &Cell) -> Option<String> {
    let is_long = cell.code || is_long(&cell.text) || cell.below.as_deref().is_some_and(is_long);
    let parts = [numeric.then_some("n"), is_long.then_some("long"), cell.tone.map(Tone::class)];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

impl Column {
    /// Returns a column of text.
    pub fn text(head: impl AsRef<str>) -> Column {
        Column { head: visible(head.as_ref()), numeric: false, more_is_better: false }
    }

    /// Returns a column of figures, of which the small ones come first.
    pub fn number(head: impl AsRef<str>) -> Column {
        Column { numeric: true, ..Column::text(head) }
    }

    /// Returns the large ones come first.
    pub fn more_is_better(mut self) -> Column {
        self.more_is_better = true;
        self
    }
}

impl Table {
    /// Returns a table without rows.
    pub fn new(caption: impl AsRef<str>, columns: Vec<Column>) -> Table {
        Table { caption: visible(caption.as_ref()), columns, rows: Vec::new(), headed: false }
    }

    /// Adds a row.
    pub fn push(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "{}", self.caption);
        self.rows.push(cells);
    }

    /// Leaves out the columns in which every cell is empty.
    pub fn without_empty_columns(mut self) -> Table {
        for index in (1..self.columns.len()).rev() {
            let is_empty = |row: &Vec<Cell>| row[index].text == "–" && row[index].tags.is_empty();
            if self.rows.iter().all(is_empty) {
                self.columns.remove(index);
                for row in &mut self.rows {
                    row.remove(index);
                }
            }
        }
        self
    }

    /// Returns the table in its frame. `id` is that of the caption.
    pub fn html(&self, id: &str) -> Markup {
        let sortable = self.rows.len() > 1;
        html! {
            div.box {
                table.stack[self.columns.len() > COLUMNS_MAX] {
                    caption.unseen[self.headed] id=(id) { (self.caption) }
                    thead { tr {
                        @for column in &self.columns {
                            th.n[column.numeric].long[is_long(&column.head)] scope="col" aria-sort=[sortable.then_some("none")] {
                                @if sortable {
                                    button type="button" data-down[column.more_is_better] { (column.head) }
                                } @else { (column.head) }
                            }
                        }
                    } }
                    tbody {
                        @for row in &self.rows {
                            tr {
                                @for (index, (cell, column)) in row.iter().zip(&self.columns).enumerate() {
                                    @let key = cell.key.filter(|key| key.is_finite()).map(|key| format!("{key}"));
                                    @let empty = (cell.key == Some(f64::INFINITY)).then_some("");
                                    @let class = class(column.numeric, cell);
                                    @if index == 0 {
                                        th scope="row" class=[class] data-k=[key] data-none=[empty] { (cell.inner()) }
                                    } @else {
                                        td class=[class] data-l=(column.head) data-k=[key] data-none=[empty] { (cell.inner()) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
