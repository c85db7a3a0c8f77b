//! What jaq needs of a value: looking at its parts, and replacing them. A type around a map or an array
//! stays around it.

use std::rc::Rc;

use jaq_core::box_iter::{BoxIter, box_once};
use jaq_core::path::Opt;
use jaq_core::val::Range;
use jaq_core::{Exn, ValX};

use super::number::is_exact;
use super::text::{TextRange, slice};
use super::{Error, List, Map, Rare, Val, ValR};
use crate::guard;
use crate::marc;

/// How many elements are collected between two checks of the room.
const CHECK_EVERY: usize = 4096;

impl FromIterator<Val> for Val {
    fn from_iter<I: IntoIterator<Item = Val>>(iter: I) -> Val {
        let iter = iter.into_iter();
        let mut values = Vec::with_capacity(iter.size_hint().0.min(CHECK_EVERY));
        for value in iter {
            values.push(value);
            if values.len().is_multiple_of(CHECK_EVERY) {
                guard::check_room(values.len());
            }
        }
        Val::array(values)
    }
}

impl From<bool> for Val {
    fn from(v: bool) -> Val {
        Val::Bool(v)
    }
}

impl From<isize> for Val {
    fn from(v: isize) -> Val {
        Val::Int(v as i64)
    }
}

impl From<usize> for Val {
    fn from(v: usize) -> Val {
        Val::big(v.into())
    }
}

impl From<f64> for Val {
    fn from(v: f64) -> Val {
        Val::float(v)
    }
}

impl From<String> for Val {
    fn from(text: String) -> Val {
        Val::Text(text.into())
    }
}

impl From<&str> for Val {
    fn from(text: &str) -> Val {
        Val::Text(text.into())
    }
}

impl From<Range<Val>> for Val {
    fn from(range: Range<Val>) -> Val {
        let ends = [("start", range.start), ("end", range.end)];
        Val::map_of(ends.into_iter().filter_map(|(key, end)| Some((Val::from(key), end?))))
    }
}

/// Returns the elements, copied only if another value shares them.
fn elements(list: Rc<List>) -> Vec<Val> {
    match Rc::try_unwrap(list) {
        Ok(list) => list.values,
        Err(shared) => shared.values.clone(),
    }
}

/// Returns the range that a map with `start` and `end` stands for.
pub(crate) fn range_of(map: &Map) -> Range<&Val> {
    map.get(&Val::from("start"))..map.get(&Val::from("end"))
}

/// Returns where a range begins and ends in something of this length.
pub(crate) fn bounds(range: &Range<&Val>, len: usize) -> Result<(usize, usize), Error> {
    let bound = |end: Option<&Val>, default: usize, up: bool| match end {
        None | Some(Val::Null) => Ok(default),
        Some(Val::Float(end)) if end.is_nan() => Ok(default),
        Some(end) => {
            let fail = || Error::typ(end.clone(), "integer");
            let rounded = match end {
                Val::Float(v) if up => Val::float(v.ceil()).position(),
                end => end.position(),
            };
            let at = rounded.ok_or_else(fail)?;
            let at = if at < 0 { at.saturating_add(len as i64).max(0) } else { at };
            Ok((at as usize).min(len))
        }
    };
    let (start, end) = (bound(range.start, 0, false)?, bound(range.end, len, true)?);
    Ok((start, end.max(start)))
}

impl Val {
    /// Returns what stands at an index, if anything does.
    ///
    /// # Errors
    /// If the value has no such indices.
    pub fn at(&self, index: &Val) -> Result<Option<Val>, Error> {
        Ok(match (self.untyped(), index.untyped()) {
            (Val::Null, Val::Null | Val::Text(_) | Val::Int(_) | Val::Float(_) | Val::Map(_)) => {
                None
            }
            (Val::Map(map), key) => map.get(key).cloned(),
            (Val::Array(list), Val::Array(part)) => {
                Some(positions(&list.values, &part.values).map(Val::from).collect())
            }
            (val @ Val::Array(_), Val::Map(range)) => {
                Some(jaq_core::ValT::range(val.clone(), range_of(range))?)
            }
            (val, Val::Map(range)) if val.text().is_some() || val.binary().is_some() => {
                Some(jaq_core::ValT::range(val.clone(), range_of(range))?)
            }
            (Val::Array(list), index) if index.num().is_some() => {
                place(index, list.values.len()).map(|at| list.values[at].clone())
            }
            (val, index) => match (val.binary(), index.num()) {
                (Some(bytes), Some(_)) => {
                    place(index, bytes.len()).map(|at| Val::Int(bytes[at].into()))
                }
                _ => return Err(Error::index(val.clone(), index.clone())),
            },
        })
    }

    /// Applies a change to the value inside the types around it.
    fn inside<'a>(self, change: impl FnOnce(Val) -> ValX<'a, Val>) -> ValX<'a, Val> {
        match self {
            Val::Rare(rare) if matches!(&*rare, Rare::Typed(..)) => {
                let (class, inside) = match Rc::try_unwrap(rare) {
                    Ok(Rare::Typed(class, inside)) => (class, inside),
                    Ok(_) => unreachable!("just matched"),
                    Err(shared) => match &*shared {
                        Rare::Typed(class, inside) => (class.clone(), inside.clone()),
                        _ => unreachable!("just matched"),
                    },
                };
                let inside = inside.inside(change)?;
                guard::check_depth(inside.depth() + 1);
                Ok(Val::rare(Rare::Typed(class, inside)))
            }
            val => change(val),
        }
    }
}

/// Returns where a part occurs in a list.
pub(crate) fn positions<'v>(list: &'v [Val], part: &'v [Val]) -> impl Iterator<Item = usize> + 'v {
    let windows = (!part.is_empty()).then(|| list.windows(part.len()).enumerate());
    windows.into_iter().flatten().filter_map(move |(at, window)| (window == part).then_some(at))
}

/// Returns the position that an index means in something of this length.
pub(crate) fn place(index: &Val, len: usize) -> Option<usize> {
    let at = index.position()?;
    let at = if at < 0 { at.checked_add(len as i64)? } else { at };
    usize::try_from(at).ok().filter(|at| *at < len)
}

const ITERABLE: &str = "an array or an object";

impl jaq_core::ValT for Val {
    fn from_num(text: &str) -> ValR {
        if let Ok(v) = text.parse() {
            return Ok(Val::Int(v));
        }
        if text.bytes().all(|byte| byte.is_ascii_digit())
            && let Ok(v) = text.parse()
        {
            return Ok(Val::big(v));
        }
        Ok(match text.parse::<f64>() {
            Ok(v) if v.is_finite() && !is_exact() => Val::Float(v),
            _ => Val::rare(Rare::Decimal(text.into())),
        })
    }

    fn from_map<I: IntoIterator<Item = (Val, Val)>>(pairs: I) -> ValR {
        Ok(Val::map_of(pairs))
    }

    fn key_values(self) -> BoxIter<'static, Result<(Val, Val), Error>> {
        match self.untyped().clone() {
            Val::Array(list) => {
                drop(self);
                let values = elements(list).into_iter().enumerate();
                Box::new(values.map(|(at, value)| Ok((Val::from(at), value))))
            }
            Val::Map(map) => {
                drop(self);
                Box::new(Map::into_pairs(map).into_iter().map(Ok))
            }
            _ => box_once(Err(Error::typ(self, ITERABLE))),
        }
    }

    fn values(self) -> Box<dyn Iterator<Item = ValR>> {
        match self {
            Val::Array(list) => Box::new(elements(list).into_iter().map(Ok)),
            Val::Map(map) => Box::new(Map::into_pairs(map).into_iter().map(|(_, value)| Ok(value))),
            val => match val.untyped().clone() {
                inside @ (Val::Array(_) | Val::Map(_)) => inside.values(),
                _ => box_once(Err(Error::typ(val, ITERABLE))),
            },
        }
    }

    fn index(self, index: &Val) -> ValR {
        self.at(index).map(|value| value.unwrap_or(Val::Null))
    }

    fn range(self, range: Range<&Val>) -> ValR {
        match self.untyped() {
            Val::Null => return Ok(Val::Null),
            Val::Array(list) => {
                let (start, end) = bounds(&range, list.values.len())?;
                return Ok(list.values[start..end].iter().cloned().collect());
            }
            _ => {}
        }
        if let Some(text) = self.text() {
            let TextRange { start, end } = slice(text, &range)?;
            return Ok(Val::from(&text[start..end]));
        }
        match self.binary() {
            Some(bytes) => {
                let (start, end) = bounds(&range, bytes.len())?;
                Ok(Val::bytes(&bytes[start..end]))
            }
            None => Err(Error::typ(self, "an array or a string")),
        }
    }

    fn map_values<'a, I: Iterator<Item = ValX<'a, Val>>>(
        self,
        opt: Opt,
        f: impl Fn(Val) -> I,
    ) -> ValX<'a, Val> {
        self.inside(|val| match val {
            Val::Array(list) => elements(list).into_iter().flat_map(&f).collect(),
            Val::Map(map) => {
                let pairs = Map::into_pairs(map).into_iter();
                let changed = pairs.filter_map(|(key, value)| {
                    f(value).next().map(|value| value.map(|value| (key, value)))
                });
                Ok(Val::map(changed.collect::<Result<_, Exn<'a, Val>>>()?))
            }
            val => opt.fail(val, |val| Exn::from(Error::typ(val, ITERABLE))),
        })
    }

    fn map_index<'a, I: Iterator<Item = ValX<'a, Val>>>(
        self,
        index: &Val,
        opt: Opt,
        f: impl Fn(Val) -> I,
    ) -> ValX<'a, Val> {
        if let Val::Map(range) = index.untyped()
            && !matches!(self.untyped(), Val::Map(_))
        {
            if !marc::is_fixed(range) {
                return self.map_range(range_of(range), opt, f);
            }
            return self.map_range(range_of(range), opt, |old| {
                let length = old.text().map_or(0, |text| text.chars().count());
                f(old).map(move |new| {
                    new.and_then(|new| {
                        marc::check_length(range, &new, length)?;
                        Ok(new)
                    })
                })
            });
        }
        self.inside(|val| match val {
            // As jq does, null becomes the container that the index needs.
            Val::Null if index.text().is_some() || index.num().is_some() => {
                let Some(new) = f(Val::Null).next().transpose()? else { return Ok(Val::Null) };
                if index.text().is_some() {
                    return Ok(Val::map(vec![(index.clone(), new)]));
                }
                let empty = Rc::new(List::new(Vec::new()));
                map_element(empty, index, opt, |_| std::iter::once(Ok(new.clone())))
            }
            Val::Map(mut map) => {
                let old = Rc::make_mut(&mut map).take(index);
                match f(old).next().transpose()? {
                    Some(new) => Rc::make_mut(&mut map).insert(index.clone(), new),
                    None => Rc::make_mut(&mut map).remove(index),
                }
                Ok(Val::Map(map))
            }
            Val::Array(list) if index.num().is_some() => map_element(list, index, opt, f),
            val => opt.fail(val, |val| Exn::from(Error::index(val, index.clone()))),
        })
    }

    fn map_range<'a, I: Iterator<Item = ValX<'a, Val>>>(
        self,
        range: Range<&Val>,
        opt: Opt,
        f: impl Fn(Val) -> I,
    ) -> ValX<'a, Val> {
        let empty = |val| if matches!(val, Val::Null) { Val::array(Vec::new()) } else { val };
        self.inside(|val| match empty(val) {
            Val::Array(mut list) => {
                let (start, end) = bounds(&range, list.values.len())?;
                let part = list.values[start..end].iter().cloned().collect();
                let new = f(part).next().transpose()?;
                let new = match new.as_ref().map(Val::untyped) {
                    None => Vec::new(),
                    Some(Val::Array(new)) => new.values.clone(),
                    Some(other) => return Err(Error::typ(other.clone(), "array").into()),
                };
                let depth = new.iter().map(Val::depth).max().unwrap_or(0);
                let changed = Rc::make_mut(&mut list);
                changed.edit(|values| drop(values.splice(start..end, new)));
                changed.holds(depth);
                Ok(Val::Array(list))
            }
            // jq refuses this; places such as `008/35-37` of a MARC record are slices.
            Val::Text(text) => {
                let TextRange { start, end } = slice(&text, &range)?;
                let new = f(Val::from(&text[start..end])).next().transpose()?;
                let new = match new.as_ref().map(|new| (new, new.text())) {
                    None => "",
                    Some((_, Some(new))) => new,
                    Some((other, None)) => return Err(Error::typ(other.clone(), "text").into()),
                };
                Ok(Val::from([&text[..start], new, &text[end..]].concat()))
            }
            val => opt.fail(val, |val| Exn::from(Error::typ(val, "array or text"))),
        })
    }

    fn as_bool(&self) -> bool {
        !matches!(self.untyped(), Val::Null | Val::Bool(false))
    }

    fn into_string(self) -> Val {
        match self {
            Val::Text(_) => self,
            val => Val::from(val.shown()),
        }
    }
}

/// Changes an element of an array, which grows if the index is beyond its end.
fn map_element<'a, I: Iterator<Item = ValX<'a, Val>>>(
    mut list: Rc<List>,
    index: &Val,
    opt: Opt,
    f: impl Fn(Val) -> I,
) -> ValX<'a, Val> {
    let len = list.values.len();
    let at = match index.position() {
        Some(at) if at >= 0 => at as usize,
        Some(at) if at.unsigned_abs() as usize <= len => len - at.unsigned_abs() as usize,
        _ => {
            // What is not there can be removed.
            if f(Val::Null).next().transpose()?.is_none() {
                return Ok(Val::Array(list));
            }
            let out = |_| Exn::from(Error::str("Out of bounds negative array index"));
            return opt.fail(Val::Array(list), out);
        }
    };
    let changed = Rc::make_mut(&mut list);
    let old = changed.values.get_mut(at).map_or(Val::Null, |old| std::mem::replace(old, Val::Null));
    match f(old).next().transpose()? {
        Some(new) => {
            if at >= len {
                guard::check_room((at - len).saturating_add(1).min(guard::VALUES_MAX + 1));
            }
            let depth = new.depth();
            changed.edit(|values| {
                if at >= values.len() {
                    values.resize(at + 1, Val::Null);
                }
                values[at] = new;
            });
            changed.holds(depth);
        }
        None if at < len => _ = changed.edit(|values| values.remove(at)),
        None => {}
    }
    Ok(Val::Array(list))
}
