//! `delpaths`: removes what is at several paths of a value, all of which are meant before any of them is
//! removed.

use std::rc::Rc;

use super::access::{bounds, place, range_of};
use super::{Error, Rare, Val, ValR};

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
    meant.dedup();
    meant.into_iter().rev().try_fold(val, |val, path| delete(val, &path))
}

/// Collects the paths that a path means in a value: without negative indices and slices, and only
/// those that lead somewhere.
fn resolve(
    val: &Val,
    steps: &[Val],
    before: &mut Vec<Val>,
    meant: &mut Vec<Vec<Val>>,
) -> Result<(), Error> {
    let Some((step, rest)) = steps.split_first() else {
        meant.push(before.clone());
        return Ok(());
    };
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

/// Removes what is at a resolved path.
fn delete(val: Val, path: &[Val]) -> ValR {
    let Some((step, rest)) = path.split_first() else { return Ok(Val::Null) };
    match val {
        Val::Map(mut map) => {
            let changed = Rc::make_mut(&mut map);
            if rest.is_empty() {
                changed.remove(step);
            } else {
                let inside = delete(changed.take(step), rest)?;
                changed.insert(step.clone(), inside);
            }
            Ok(Val::Map(map))
        }
        Val::Array(mut list) => {
            let Some(at) = place(step, list.values.len()) else { return Ok(Val::Array(list)) };
            let changed = Rc::make_mut(&mut list);
            if rest.is_empty() {
                changed.edit(|values| values.remove(at));
            } else {
                let inside = std::mem::replace(&mut changed.values[at], Val::Null);
                changed.values[at] = delete(inside, rest)?;
            }
            Ok(Val::Array(list))
        }
        Val::Rare(rare) => match &*rare {
            Rare::Typed(class, inside) => {
                Ok(Val::rare(Rare::Typed(class.clone(), delete(inside.clone(), path)?)))
            }
            _ => Ok(Val::Rare(rare)),
        },
        val => Ok(val),
    }
}
