//! Lines of a terminal: pieces of styled text, arranged in columns and cut to a width.

/// How a piece of text looks. Without colours all of it is plain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// As the terminal has it.
    Plain,
    /// What to read first.
    Strong,
    /// What to read last.
    Faint,
    /// Something to look at.
    Care,
    /// Something to keep away from.
    Bad,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Strong => "\x1b[1m",
            Style::Faint => "\x1b[2m",
            Style::Care => "\x1b[33m",
            Style::Bad => "\x1b[31m",
        }
    }
}

/// A line, from left to right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line(Vec<(String, Style)>);

impl Line {
    /// Returns a line of one piece.
    pub fn of(text: impl Into<String>, style: Style) -> Line {
        Line(vec![(text.into(), style)])
    }

    /// Adds a piece.
    pub fn push(&mut self, text: impl Into<String>, style: Style) {
        self.0.push((text.into(), style));
    }

    /// Adds a piece that begins at a column, after a space at least.
    pub fn push_at(&mut self, column: usize, text: impl Into<String>, style: Style) {
        let gap = column.saturating_sub(self.width()).max(usize::from(!self.0.is_empty()));
        self.push(" ".repeat(gap), Style::Plain);
        self.push(text, style);
    }

    /// Adds a piece that ends at a column, after a space at least.
    pub fn push_to(&mut self, column: usize, text: impl Into<String>, style: Style) {
        let text = text.into();
        self.push_at(column.saturating_sub(width(&text)), text, style);
    }

    /// Returns the number of characters in the line.
    pub fn width(&self) -> usize {
        self.0.iter().map(|(text, _)| width(text)).sum()
    }

    /// Renders the line for the terminal, cut to a width.
    pub fn render(&self, width_max: usize, colours: bool) -> String {
        let mut out = String::new();
        let mut room = width_max;
        for (text, style) in &self.0 {
            let shown = cut(text, room);
            room -= width(&shown);
            if colours && *style != Style::Plain && !shown.trim().is_empty() {
                out.push_str(style.code());
                out.push_str(&shown);
                out.push_str("\x1b[0m");
            } else {
                out.push_str(&shown);
            }
        }
        out.trim_end().to_owned()
    }
}

/// Returns the columns that a text takes. Wide characters are rare in the names that we show.
pub fn width(text: &str) -> usize {
    text.chars().count()
}

/// Cuts a text to a width, with an ellipsis.
pub fn cut(text: &str, width_max: usize) -> String {
    if width(text) <= width_max {
        return text.to_owned();
    }
    let mut shown: String = text.chars().take(width_max.saturating_sub(1)).collect();
    if width_max > 0 {
        shown.push('…');
    }
    shown
}

/// Wraps a text between words; a word that is too long is cut. No-break spaces hold words together,
/// and are printed as spaces.
pub fn wrapped(text: &str, width_max: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
        let word = cut(word, width_max);
        match lines.last_mut() {
            Some(last) if width(last) + 1 + width(&word) <= width_max => {
                last.push(' ');
                last.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines.iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

/// Returns a bar of this many eighths of a character.
pub fn bar(eighths: usize) -> String {
    const PART: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    format!("{}{}", "█".repeat(eighths / 8), PART[eighths % 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_stand_in_their_columns() {
        let mut line = Line::of(" name", Style::Strong);
        line.push_to(12, "5 ms", Style::Plain);
        line.push_at(14, "x", Style::Faint);
        assert_eq!(line.render(80, false), " name   5 ms  x");
        assert_eq!(line.render(80, true), "\u{1b}[1m name\u{1b}[0m   5 ms  \u{1b}[2mx\u{1b}[0m");
        assert_eq!(line.render(8, false), " name");
        assert_eq!(line.render(4, false), " na…");
        // What has no room left of its column begins after a space.
        let mut line = Line::of("a long name", Style::Plain);
        line.push_at(4, "x", Style::Plain);
        assert_eq!(line.render(80, false), "a long name x");
    }

    #[test]
    fn text_breaks_between_words() {
        assert_eq!(
            wrapped("json or oj + zstd -3 (a tie)", 14),
            ["json or oj +", "zstd -3 (a", "tie)"]
        );
        assert_eq!(wrapped("json +\u{a0}zstd\u{a0}-3", 12), ["json", "+ zstd -3"]);
        assert_eq!(wrapped("abcdefgh i", 5), ["abcd…", "i"]);
        assert!(wrapped("  ", 5).is_empty());
    }

    #[test]
    fn bars_have_eighths() {
        assert_eq!(bar(17), "██▏");
        assert_eq!(bar(0), "");
    }
}
