//! The tokens of a document, cut into expressions: a header, or a key with its value.
//!
//! The parser of the grammar wants its tokens in a slice. Those of one expression are enough, and
//! without the white space and the comments in them they take memory in proportion to the values: an
//! expression is cut short where it has more values, is deeper or has more tokens in a row than any
//! that is read.

use toml_parser::lexer::{Lexer, Token, TokenKind};
use toml_parser::{ErrorSink, Source};

/// How many tokens may stand between two values, apart from the parts of a dotted key: with a fraction
/// and an offset, a value is about ten.
const TOKENS_BETWEEN: usize = 64;

/// Cuts a document.
pub(super) struct Expressions<'i> {
    source: Source<'i>,
    lexer: Lexer<'i>,
    tokens: Vec<Token>,
    depth_max: usize,
}

/// How [`Expressions::next`] ended.
#[derive(Debug, PartialEq)]
pub(super) enum Cut {
    /// An expression is whole.
    Expression,
    /// The document has ended.
    End,
    /// One expression has more than so many values.
    TooMany,
    /// The tokens so far are of no expression that is read: too deep, or with a fault of the grammar.
    Refused,
}

impl<'i> Expressions<'i> {
    /// Cuts a document whose values may nest `depth_max` deep.
    pub fn new(source: Source<'i>, depth_max: u32) -> Expressions<'i> {
        let depth_max = depth_max as usize;
        Expressions { source, lexer: source.lex(), tokens: Vec::new(), depth_max }
    }

    /// The tokens of the expression that was cut last.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Cuts the next expression, of up to `nodes` values. Reports line breaks and comments that are not
    /// allowed.
    pub fn next(&mut self, nodes: u64, errors: &mut dyn ErrorSink) -> Cut {
        self.tokens.clear();
        // A part of a dotted key, a dot, and white space after both.
        let in_a_row = TOKENS_BETWEEN + 4 * self.depth_max;
        let mut is_header = false;
        let mut depth = 0_usize;
        // Each but the last value of an array or a table in braces has a comma after it.
        let (mut values, mut latest) = (0, 0);
        for token in self.lexer.by_ref() {
            let kind = token.kind();
            let in_brackets = depth > 0 && !is_header;
            let before = self.tokens.last().map(Token::kind);
            match kind {
                TokenKind::Comment => {
                    if let Some(raw) = self.source.get(token) {
                        raw.decode_comment(errors);
                    }
                    continue;
                }
                TokenKind::Newline => {
                    if let Some(raw) = self.source.get(token) {
                        raw.decode_newline(errors);
                    }
                    if before.is_none() || in_brackets && before == Some(TokenKind::Newline) {
                        continue;
                    }
                }
                TokenKind::Whitespace if before.is_none() || in_brackets => continue,
                TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => {
                    is_header |= before.is_none();
                    depth += 1;
                    (values, latest) = (values + 1, self.tokens.len());
                }
                TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                    depth = depth.saturating_sub(1);
                    latest = self.tokens.len();
                }
                TokenKind::Comma => (values, latest) = (values + 1, self.tokens.len()),
                TokenKind::Eof if before.is_none() => return Cut::End,
                _ => {}
            }
            self.tokens.push(token);
            if kind == TokenKind::Eof || kind == TokenKind::Newline && !in_brackets {
                return Cut::Expression;
            }
            if values > nodes {
                return Cut::TooMany;
            }
            if depth > self.depth_max + 2 || self.tokens.len() - latest > in_a_row {
                return Cut::Refused;
            }
        }
        match self.tokens.is_empty() {
            true => Cut::End,
            false => Cut::Expression,
        }
    }
}
