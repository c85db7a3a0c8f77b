//! `delpaths`: removes what is at several paths of a value, all of which are meant before any of them is
//! removed.

use std::rc::Rc;

use super::access::{bounds, place, range_of};
use super::text::{TextRange, slice};
use super::{Error, Rare, Val, ValR};
use crate::marc;

/// What is to be removed: the steps to it, without negative indices and slices of arrays; and of a text there, which
/// characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Meant {
    steps: Vec<Val>,
    characters: Option<(usize, usize)>,
}

/// Removes what is at the paths, an array of arrays.
pub(crate) fn delete_paths(val: Val, paths: Val) -> ValR {
    let fail = |paths: &Val| Error::typ(paths.clone(), "array of paths");
    let Val::Array(list) = paths.untyped() else { return Err(fail(&paths)) };
    let mut meant = Vec::new();
    for path in &list.values {
        let Val::Array(steps) = path.untyped() else { return Err(fail(path)) };
        resolve(&val, &steps.values, &mut Vec::new(), &mut meant)?;
    }
    // From the end to the beginning, no removal moves what a later one means.
    meant.sort_unstable();
    meant.dedup_by(|next, one| joins(one, next));
    delete_all(val, meant)
}

/// Removes what is meant, and the fields and subfields of MARC records that are empty then.
fn delete_all(val: Val, meant: Vec<Meant>) -> ValR {
    let remove = |val: Val, some: Vec<Meant>| {
        some.into_iter().rev().try_fold(val, |val, one| delete(val, &one.steps, one.characters))
    };
    let steps_to_record = |one: &Meant| marc::steps_to_record(&val, &one.steps);
    let mut records: Vec<Vec<Val>> = (meant.iter())
        .filter_map(|one| steps_to_record(one).map(|count| one.steps[..count].to_vec()))
        .collect();
    if records.is_empty() {
        return remove(val, meant);
    }
    records.dedup();
    // No record moves by what is removed in one.
    let (parts, others): (Vec<_>, Vec<_>) =
        meant.into_iter().partition(|one| steps_to_record(one).is_some());
    let val = records.iter().fold(remove(val, parts)?, |val, path| complete(val, path));
    remove(val, others)
}

/// Removes from the MARC record at a path the fields and subfields that are left empty.
fn complete(val: Val, path: &[Val]) -> Val {
    let Some((step, rest)) = path.split_first() else { return marc::without_emptied(&val) };
    match val {
        Val::Map(mut map) => {
            let changed = Rc::make_mut(&mut map);
            let inside = complete(changed.take(step), rest);
            changed.insert(step.clone(), inside);
            Val::Map(map)
        }
        Val::Array(mut list) => {
            if let Some(at) = place(step, list.values.len()) {
                let inside = &mut Rc::make_mut(&mut list).values[at];
                *inside = complete(std::mem::replace(inside, Val::Null), rest);
            }
            Val::Array(list)
        }
        val => val,
    }
}

/// Extends what is to be removed by what follows it in order, if they are the same or overlap. Returns whether it did.
fn joins(one: &mut Meant, next: &Meant) -> bool {
    let overlap = match (one.characters, next.characters) {
        (Some((_, end)), Some((start, _))) => start <= end,
        (one, next) => one == next,
    };
    if one.steps != next.steps || !overlap {
        return false;
    }
    if let (Some((_, end)), Some((_, other))) = (&mut one.characters, next.characters) {
        *end = other.max(*end);
    }
    true
}

/// Collects what a path means in a value, if it leads somewhere.
fn resolve(
    val: &Val,
    steps: &[Val],
    before: &mut Vec<Val>,
    meant: &mut Vec<Meant>,
) -> Result<(), Error> {
    let Some((step, rest)) = steps.split_first() else {
        meant.push(Meant { steps: before.clone(), characters: None });
        return Ok(());
    };
    match (val.untyped(), step.untyped()) {
        (Val::Text(text), Val::Map(range)) if rest.is_empty() => {
            let characters = Some(bounds(&range_of(range), text.chars().count())?);
            meant.push(Meant { steps: before.clone(), characters });
            return Ok(());
        }
        (Val::Null | Val::Array(_) | Val::Map(_), _) => {}
        (_, Val::Map(_)) => return Err(Error::typ(val.clone(), "array or text")),
        _ => {}
    }
    let places = match (val.untyped(), step.untyped()) {
        (Val::Null, _) => return Ok(()),
        (Val::Array(list), Val::Map(range)) => {
            let (start, end) = bounds(&range_of(range), list.values.len())?;
            (start..end).map(Val::from).collect()
        }
        (Val::Array(list), index) if index.num().is_some() => {
            place(index, list.values.len()).map(Val::from).into_iter().collect()
        }
        _ => vec![step.clone()],
    };
    for place in places {
        if let Some(inside) = val.at(&place)? {
            before.push(place);
            resolve(&inside, rest, before, meant)?;
            before.pop();
        }
    }
    Ok(())
}

/// Removes what is at a resolved path, or only these characters of it.
fn delete(val: Val, path: &[Val], characters: Option<(usize, usize)>) -> ValR {
    let Some((step, rest)) = path.split_first() else {
        return match (val, characters) {
            (Val::Text(text), Some((start, end))) => {
                let range = Some(&Val::from(start))..Some(&Val::from(end));
                let TextRange { start, end } = slice(&text, &range)?;
                Ok(Val::from([&text[..start], &text[end..]].concat()))
            }
            (Val::Rare(rare), Some(_)) => match &*rare {
                Rare::Typed(class, inside) => {
                    let inside = delete(inside.clone(), path, characters)?;
                    Ok(Val::rare(Rare::Typed(class.clone(), inside)))
                }
                _ => Ok(Val::Rare(rare)),
            },
            _ => Ok(Val::Null),
        };
    };
    let removes = rest.is_empty() && characters.is_none();
    match val {
        Val::Map(mut map) => {
            let changed = Rc::make_mut(&mut map);
            if removes {
                changed.remove(step);
            } else {
                let inside = delete(changed.take(step), rest, characters)?;
                changed.insert(step.clone(), inside);
            }
            Ok(Val::Map(map))
        }
        Val::Array(mut list) => {
            let Some(at) = place(step, list.values.len()) else { return Ok(Val::Array(list)) };
            let changed = Rc::make_mut(&mut list);
            if removes {
                changed.edit(|values| values.remove(at));
            } else {
                let inside = std::mem::replace(&mut changed.values[at], Val::Null);
                changed.values[at] = delete(inside, rest, characters)?;
            }
            Ok(Val::Array(list))
        }
        Val::Rare(rare) => match &*rare {
            Rare::Typed(class, inside) => {
                Ok(Val::rare(Rare::Typed(class.clone(), delete(inside.clone(), path, characters)?)))
            }
            _ => Ok(Val::Rare(rare)),
        },
        val => Ok(val),
    }
}
