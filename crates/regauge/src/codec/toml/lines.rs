//! The tokens of a document, cut into expressions: a header, or a key with its value.
//!
//! The parser of the grammar wants its tokens in a slice. Those of one expression are enough, and
//! without the white space and the comments in them they take memory in proportion to the values.

use toml_parser::lexer::{Lexer, Token, TokenKind};
use toml_parser::{ErrorSink, Source};

/// How many tokens a value may take: with a dotted key, a fraction and an offset it is about ten.
const TOKENS_EACH: u64 = 8;

/// Cuts a document.
pub(super) struct Expressions<'i> {
    source: Source<'i>,
    lexer: Lexer<'i>,
    tokens: Vec<Token>,
}

/// How [`Expressions::next`] ended.
#[derive(Debug, PartialEq)]
pub(super) enum Cut {
    /// An expression is whole.
    Expression,
    /// The document has ended.
    End,
    /// One expression has more tokens than so many values take.
    TooMany,
}

impl<'i> Expressions<'i> {
    pub fn new(source: Source<'i>) -> Expressions<'i> {
        Expressions { source, lexer: source.lex(), tokens: Vec::new() }
    }

    /// The tokens of the expression that was cut last.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Cuts the next expression. Reports line breaks and comments that are not allowed.
    pub fn next(&mut self, nodes: u64, errors: &mut dyn ErrorSink) -> Cut {
        self.tokens.clear();
        let most = usize::try_from(nodes.saturating_mul(TOKENS_EACH).saturating_add(64));
        let most = most.unwrap_or(usize::MAX);
        let mut is_header = false;
        let mut depth = 0_usize;
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
                }
                TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                    depth = depth.saturating_sub(1);
                }
                TokenKind::Eof if before.is_none() => return Cut::End,
                _ => {}
            }
            if self.tokens.len() >= most {
                return Cut::TooMany;
            }
            self.tokens.push(token);
            if kind == TokenKind::Eof || kind == TokenKind::Newline && !in_brackets {
                return Cut::Expression;
            }
        }
        match self.tokens.is_empty() {
            true => Cut::End,
            false => Cut::Expression,
        }
    }
}
