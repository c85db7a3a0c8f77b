//! Which parts of a document a filter looks at, so that the others need not be built.
//!
//! `select(.user.id > 1) | .text` looks at `.user.id` and `.text`. What is followed is where each term
//! gets its input from: from a place in the document, or from a value that the filter made. Anything
//! that is not understood needs all of its input.

use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Term};
use jaq_core::load::{self};
use jaq_core::path::{Part, Path};
use regauge::{BigInt, Ext, Result, Sink, Type, Value};

use crate::build::Builder;
use crate::val::Val;

/// The parts of a value that are needed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    whole: bool,
    keys: Vec<(String, Needs)>,
}

static WHOLE: Needs = Needs { whole: true, keys: Vec::new() };

/// The keys that lead to a place in the document; `None` for a value that the filter made.
type Place<'s> = Option<Vec<&'s str>>;

/// The filter does something that is not followed here.
struct Unknown;

impl Needs {
    /// Returns what a filter needs of each document.
    pub fn of(code: &str) -> Needs {
        let mut needs = Needs::default();
        let known = load::parse(code, |parser| parser.term()).is_some_and(|term| {
            let place = needs.follow(&term, &Some(Vec::new()));
            place.map(|place| needs.add(&place)).is_ok()
        });
        if known { needs } else { Needs { whole: true, keys: Vec::new() } }
    }

    /// Returns the needs of a filter that needs everything.
    pub fn whole() -> &'static Needs {
        &WHOLE
    }

    /// Adds all that is at a place.
    fn add(&mut self, place: &Place<'_>) {
        let Some(place) = place else { return };
        let mut at = self;
        for name in place {
            let found = at.keys.iter().position(|(key, _)| key == name).unwrap_or_else(|| {
                at.keys.push(((*name).to_owned(), Needs::default()));
                at.keys.len() - 1
            });
            at = &mut at.keys[found].1;
        }
        at.whole = true;
    }

    /// Follows a term that needs all of its result.
    fn all<'s>(
        &mut self,
        term: &Term<&'s str>,
        at: &Place<'s>,
    ) -> std::result::Result<(), Unknown> {
        let place = self.follow(term, at)?;
        self.add(&place);
        Ok(())
    }

    /// Returns where the result of a term is, if its input is at a place.
    fn follow<'s>(
        &mut self,
        term: &Term<&'s str>,
        at: &Place<'s>,
    ) -> std::result::Result<Place<'s>, Unknown> {
        match term {
            Term::Id => return Ok(at.clone()),
            Term::Num(_) | Term::Arr(None) | Term::Var(_) | Term::Break(_) => {}
            Term::Recurse | Term::Fold(..) => self.add(at),
            Term::Str(_, parts) => {
                for part in parts {
                    if let StrPart::Term(term) = part {
                        self.all(term, at)?;
                    }
                }
            }
            Term::Arr(Some(term)) | Term::Neg(term) => self.all(term, at)?,
            Term::Obj(pairs) => {
                for (key, value) in pairs {
                    match value {
                        Some(value) => {
                            self.all(key, at)?;
                            self.all(value, at)?;
                        }
                        None => self.shorthand(key, at)?,
                    }
                }
            }
            Term::BinOp(left, BinaryOp::Pipe(None), right) => {
                let place = self.follow(left, at)?;
                return self.follow(right, &place);
            }
            Term::BinOp(left, BinaryOp::Pipe(Some(load::parse::Pattern::Var(_))), right) => {
                self.all(left, at)?;
                return self.follow(right, at);
            }
            Term::BinOp(
                left,
                BinaryOp::Comma
                | BinaryOp::Alt
                | BinaryOp::Or
                | BinaryOp::And
                | BinaryOp::Math(_)
                | BinaryOp::Cmp(_),
                right,
            ) => {
                self.all(left, at)?;
                self.all(right, at)?;
            }
            Term::IfThenElse(branches, other) => {
                for (condition, branch) in branches {
                    self.all(condition, at)?;
                    self.all(branch, at)?;
                }
                match other {
                    Some(other) => self.all(other, at)?,
                    None => self.add(at),
                }
            }
            Term::TryCatch(term, catch) => {
                self.all(term, at)?;
                if let Some(catch) = catch {
                    self.all(catch, &None)?;
                }
            }
            Term::Label(_, term) => return self.follow(term, at),
            Term::Call("select", arguments) if arguments.len() == 1 => {
                self.all(&arguments[0], at)?;
                return Ok(at.clone());
            }
            Term::Call("empty", arguments) if arguments.is_empty() => {}
            // Whatever a function runs its arguments on comes from its input.
            Term::Call(..) => self.add(at),
            Term::Path(head, Path(parts)) => {
                let mut place = self.follow(head, at)?;
                for (part, _) in parts {
                    match (part, place.as_mut()) {
                        (Part::Index(Term::Str(None, text)), Some(keys))
                            if plain(text).is_some() =>
                        {
                            keys.extend(plain(text));
                            continue;
                        }
                        (Part::Index(index), _) => self.all(index, at)?,
                        (Part::Range(start, end), _) => {
                            for bound in [start, end].into_iter().flatten() {
                                self.all(bound, at)?;
                            }
                        }
                    }
                    self.add(&place);
                    place = None;
                }
                return Ok(place);
            }
            Term::BinOp(..) | Term::Def(..) => return Err(Unknown),
        }
        Ok(None)
    }

    /// Follows `{name}`.
    fn shorthand<'s>(
        &mut self,
        key: &Term<&'s str>,
        at: &Place<'s>,
    ) -> std::result::Result<(), Unknown> {
        match (key, at) {
            (Term::Str(None, text), Some(keys)) if plain(text).is_some() => {
                self.add(&Some(keys.iter().copied().chain(plain(text)).collect()));
                Ok(())
            }
            (Term::Var(_), _) => Ok(()),
            _ => Err(Unknown),
        }
    }

    fn get(&self, key: &str) -> Option<&Needs> {
        self.keys.iter().find_map(|(name, needs)| (name == key).then_some(needs))
    }
}

/// Returns a text without interpolation and escapes.
fn plain<'s>(parts: &[StrPart<&'s str, Term<&'s str>>]) -> Option<&'s str> {
    match parts {
        [StrPart::Str(text)] => Some(text),
        _ => None,
    }
}

/// A builder of the parts that are needed.
pub(crate) struct Pruned<'w> {
    builder: Builder,
    root: &'w Needs,
    /// The open containers of which only some keys are needed.
    open: Vec<&'w Needs>,
    /// How many containers are open in a value that is needed whole.
    whole: usize,
    /// How many containers are open in a value that is not needed.
    skipped: usize,
    /// What is needed of the next value.
    next: Option<&'w Needs>,
}

impl<'w> Pruned<'w> {
    pub fn new(root: &'w Needs) -> Pruned<'w> {
        let (open, whole, skipped, next) = (Vec::new(), 0, 0, Some(root));
        Pruned { builder: Builder::new(), root, open, whole, skipped, next }
    }

    /// Returns the finished value, and prepares for the next one.
    pub fn take(&mut self) -> Option<Val> {
        self.next = Some(self.root);
        self.builder.take()
    }

    /// Drops a value that was not finished.
    pub fn clear(&mut self) {
        self.builder.clear();
        self.open.clear();
        (self.whole, self.skipped, self.next) = (0, 0, Some(self.root));
    }

    /// Returns how many containers are open.
    #[inline]
    pub fn depth(&self) -> usize {
        self.open.len() + self.whole + self.skipped
    }

    #[inline]
    fn is_needed(&self) -> bool {
        self.whole > 0 || (self.skipped == 0 && self.next.is_some())
    }

    /// Opens a container; returns whether it is needed.
    #[inline]
    fn begin(&mut self, is_array: bool) -> bool {
        if self.whole > 0 {
            self.whole += 1;
            return true;
        }
        match self.next {
            Some(needs) if self.skipped == 0 => {
                // A key of an array is an error, which shows the array.
                if needs.whole || is_array {
                    self.whole = 1;
                } else {
                    self.open.push(needs);
                }
                true
            }
            _ => {
                self.skipped += 1;
                false
            }
        }
    }

    /// Closes a container; returns whether it is needed.
    #[inline]
    fn end(&mut self) -> bool {
        if self.skipped > 0 {
            self.skipped -= 1;
            return false;
        }
        match self.whole {
            0 => _ = self.open.pop(),
            _ => self.whole -= 1,
        }
        true
    }
}

/// Passes a value on if it is needed.
macro_rules! leaf {
    ($($method:ident($($name:ident: $type:ty)?);)*) => {
        $(
            #[inline]
            fn $method(&mut self $(, $name: $type)?) -> Result {
                if self.is_needed() { self.builder.$method($($name)?) } else { Ok(()) }
            }
        )*
    };
}

impl Sink for Pruned<'_> {
    leaf! {
        null(); bool(v: bool); i64(v: i64); u64(v: u64); f64(v: f64); f32(v: f32); str(v: &str);
        bytes(v: &[u8]); big_int(v: BigInt<'_>); ext(v: Ext<'_>);
    }

    fn begin_array(&mut self, len: Option<u64>) -> Result {
        if self.begin(true) { self.builder.begin_array(len) } else { Ok(()) }
    }
    fn end_array(&mut self) -> Result {
        if self.end() { self.builder.end_array() } else { Ok(()) }
    }
    fn begin_map(&mut self, len: Option<u64>) -> Result {
        if self.begin(false) { self.builder.begin_map(len) } else { Ok(()) }
    }
    fn end_map(&mut self) -> Result {
        if self.end() { self.builder.end_map() } else { Ok(()) }
    }
    #[inline]
    fn key(&mut self, k: &str) -> Result {
        if self.whole > 0 {
            return self.builder.key(k);
        }
        if self.skipped > 0 {
            return Ok(());
        }
        self.next = self.open.last().and_then(|needs| needs.get(k));
        if self.next.is_some() { self.builder.key(k) } else { Ok(()) }
    }
    // It may be a symbol.
    fn key_value(&mut self, k: &Value) -> Result {
        if self.whole == 0 && self.skipped > 0 {
            return Ok(());
        }
        if self.whole == 0 {
            self.next = Some(&WHOLE);
        }
        self.builder.key_value(k)
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        if self.begin(false) { self.builder.begin_typed(t) } else { Ok(()) }
    }
    fn end_typed(&mut self) -> Result {
        if self.end() { self.builder.end_typed() } else { Ok(()) }
    }
    fn holds_references(&mut self) -> bool {
        false
    }
    fn fidelity(&mut self) -> &mut regauge::Fidelity {
        self.builder.fidelity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(needs: &Needs) -> String {
        let mut keys: Vec<_> = needs.keys.iter().collect();
        keys.sort_by_key(|(key, _)| key);
        let keys: Vec<_> =
            keys.iter().map(|(key, below)| format!("{key}{}", shown(below))).collect();
        let whole = if needs.whole { "*" } else { "" };
        if keys.is_empty() { whole.into() } else { format!("{whole}({})", keys.join(" ")) }
    }

    #[test]
    fn filters_need_what_they_look_at() {
        for (code, wanted) in [
            (".", "*"),
            (".a", "(a*)"),
            (".a.b, .c", "(a(b*) c*)"),
            (".a | .b | .c", "(a(b(c*)))"),
            ("select(.a.b > 1) | {c, d: .e.f}", "(a(b*) c* e(f*))"),
            ("select(.a) | .", "*(a*)"),
            (".a[] | .b", "(a*)"),
            (".a[0].b", "(a*)"),
            (".a[.i]", "(a* i*)"),
            (".a as $x | .b + $x", "(a* b*)"),
            ("if .a then .b else .c end", "(a* b* c*)"),
            ("if .a then .b end", "*(a* b*)"),
            ("\"\\(.a) \\(.b.c)\"", "(a* b(c*))"),
            (".a // .b", "(a* b*)"),
            (".a | length", "(a*)"),
            ("length", "*"),
            (".a |= 1", "*"),
            ("del(.a)", "*"),
            ("def f: .b; .a | f", "*"),
            ("reduce .a[] as $x (0; . + $x)", "*"),
            ("[.a, .b.c]", "(a* b(c*))"),
            (".a? | try .b catch .", "(a(b*))"),
            (".[\"a b\"]", "(a b*)"),
            ("{a: {b: .c}} | .a.d", "(c*)"),
            ("1", ""),
            ("wrong (", "*"),
        ] {
            assert_eq!(shown(&Needs::of(code)), wanted, "{code}");
        }
    }
}
