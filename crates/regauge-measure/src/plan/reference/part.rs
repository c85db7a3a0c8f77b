//! Selects a part of large data, the same for all contenders: elements of a document's largest
//! array, or records of a stream, evenly spread.
//!
//! Every contender decodes and encodes its data dozens of times. Forty megabytes would leave time
//! for a handful of libraries; one megabyte says as much about all of them.

use std::fs::File;
use std::path::Path;

use regauge::output::FileOutput;
use regauge::values::write_each;
use regauge::{Format, OnLoss, Value};

use super::spans::{count, keep_documents};
use super::values::{Values, options};
use super::{References, Shape, told};
use crate::model::error::Error;
use crate::model::report::Part;
use crate::plan::options::PartSize;

/// An array of fewer elements has no even part.
const ELEMENTS_MIN: usize = 16;
/// Fewer records would be chance.
const RECORDS_MIN: u64 = 50;

/// A part of the references, and what it is.
pub(crate) struct Smaller {
    pub references: References,
    /// Of one document.
    pub part: Option<Part>,
    /// Every which record of a stream.
    pub every: u64,
}

impl References {
    /// Writes a part of large data into `folder`; returns nothing if the data is small, or has no
    /// parts.
    pub(crate) fn smaller(&self, size: PartSize, folder: &Path) -> Result<Option<Smaller>, Error> {
        let base = self.folder.join("base");
        let bytes = std::fs::metadata(&base).map_err(Error::io("read", &base))?.len();
        if bytes <= size.whole {
            return Ok(None);
        }
        let out = folder.join("base");
        if self.shape != Shape::Document {
            let records = count(&base)?;
            let every = (bytes / size.part).min(records / RECORDS_MIN).max(1);
            if every == 1 {
                return Ok(None);
            }
            keep_documents(&base, &out, &|index| index.is_multiple_of(every))?;
            let references = References::from_base(self.shape, folder, self.needed.as_deref())?;
            return Ok(Some(Smaller { references, part: None, every }));
        }
        let failed = |error: regauge::Error| Error::Input(told(&error));
        let Some(mut document) = Values::open_base(&base)?.next().map_err(failed)? else {
            return Ok(None);
        };
        let Some((path, elements, of)) = shrink(&mut document, size.part as f64 / bytes as f64)
        else {
            return Ok(None);
        };
        let mut writing = options(Format::Ndjson);
        writing.on_loss = OnLoss::Wrap;
        let mut document = Some(document);
        let file = File::create(&out).map_err(Error::io("write", &out))?;
        let output = FileOutput::new(file).map_err(Error::io("write", &out))?;
        write_each(|| Ok(document.take()), output, &writing).map_err(failed)?;
        let references = References::from_base(self.shape, folder, self.needed.as_deref())?;
        let size = |of: &References| of.list.first().map_or(1, |one| one.bytes.max(1)) as f64;
        let share = size(&references) / size(self);
        let part = Some(Part { path, elements, of, share });
        Ok(Some(Smaller { references, part, every: 1 }))
    }
}

/// Keeps enough elements of a document's heaviest array that about this share of the document is
/// left. Returns where the array is, how many elements were kept, and of how many.
fn shrink(document: &mut Value, share: f64) -> Option<(String, u64, u64)> {
    let whole = weigh(document)?;
    let mut heaviest = Heaviest { weight: 0, path: Vec::new() };
    find(document, &mut Vec::new(), &mut heaviest);
    // Everything around the array stays, so the array must be large enough to remove that much.
    let around = whole.saturating_sub(heaviest.weight) as f64;
    let share = (share * whole as f64 - around) / heaviest.weight.max(1) as f64;
    if heaviest.weight * 2 < whole {
        return None;
    }
    let path = name(document, &heaviest.path);
    let Value::Array(elements) = at(document, &heaviest.path)? else { return None };
    let of = elements.len();
    let kept = ((of as f64 * share) as usize).clamp(ELEMENTS_MIN / 2, of);
    let mut index = 0;
    elements.retain(|_| {
        let is_kept = index * kept / of != (index + 1) * kept / of;
        index += 1;
        is_kept
    });
    Some((path, kept as u64, of as u64))
}

struct Heaviest {
    weight: u64,
    path: Vec<usize>,
}

/// Estimates how many bytes a value is worth. Returns nothing if it contains shared references,
/// which removing some of its parts would break.
fn weigh(value: &Value) -> Option<u64> {
    Some(match value {
        Value::Anchor(..) | Value::Alias(_) => return None,
        Value::Text(text) => 4 + text.len() as u64,
        Value::Bytes(bytes) => 4 + bytes.len() as u64,
        Value::Array(values) => {
            values.iter().map(weigh).try_fold(4, |sum, one| Some(sum + one?))?
        }
        Value::Map(pairs) => {
            pairs.iter().try_fold(4, |sum, (key, value)| Some(sum + weigh(key)? + weigh(value)?))?
        }
        Value::Typed(_, inside) => 4 + weigh(inside)?,
        _ => 8,
    })
}

/// Finds the heaviest array that has enough elements; gives the weight of the value.
fn find(value: &Value, path: &mut Vec<usize>, heaviest: &mut Heaviest) -> u64 {
    let mut inside = |path: &mut Vec<usize>, index: usize, one: &Value| {
        path.push(index);
        let weight = find(one, path, heaviest);
        path.pop();
        weight
    };
    match value {
        Value::Array(values) => {
            let weight: u64 =
                4 + values.iter().enumerate().map(|(i, one)| inside(path, i, one)).sum::<u64>();
            if values.len() >= ELEMENTS_MIN && weight > heaviest.weight {
                *heaviest = Heaviest { weight, path: path.clone() };
            }
            weight
        }
        Value::Map(pairs) => {
            let each = pairs.iter().enumerate();
            4 + each
                .map(|(i, (key, one))| weigh(key).unwrap_or(0) + inside(path, i, one))
                .sum::<u64>()
        }
        other => weigh(other).unwrap_or(0),
    }
}

/// Returns the value at a path of indexes.
fn at<'v>(value: &'v mut Value, path: &[usize]) -> Option<&'v mut Value> {
    let Some((first, rest)) = path.split_first() else { return Some(value) };
    match value {
        Value::Array(values) => at(values.get_mut(*first)?, rest),
        Value::Map(pairs) => at(&mut pairs.get_mut(*first)?.1, rest),
        _ => None,
    }
}

/// Formats a path for people: "$.features[0].points".
fn name(value: &Value, path: &[usize]) -> String {
    let mut name = "$".to_owned();
    let mut value = value;
    for place in path {
        match value {
            Value::Array(values) => {
                name.push_str(&format!("[{place}]"));
                value = &values[*place];
            }
            Value::Map(pairs) => {
                match &pairs[*place].0 {
                    Value::Text(key) => name.push_str(&format!(".{key}")),
                    _ => name.push_str(".?"),
                }
                value = &pairs[*place].1;
            }
            _ => break,
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn numbers(count: i64) -> Value {
        Value::Array((0..count).map(Value::Int).collect())
    }

    #[test]
    fn elements_of_the_largest_array_are_kept_evenly() {
        let mut document = Value::Map(vec![
            (text("head"), text("stays")),
            (text("small"), numbers(20)),
            (text("list"), Value::Array(vec![numbers(1_000)])),
        ]);
        let (path, kept, of) = shrink(&mut document, 0.2).unwrap();
        assert_eq!((path.as_str(), of), ("$.list[0]", 1_000));
        assert!((160..200).contains(&kept), "{kept}");
        let Value::Map(pairs) = &document else { panic!() };
        assert_eq!((&pairs[0].1, &pairs[1].1), (&text("stays"), &numbers(20)));
        let Value::Array(outer) = &pairs[2].1 else { panic!() };
        let Value::Array(list) = &outer[0] else { panic!() };
        assert_eq!(list.len() as u64, kept);
        let steps: Vec<i64> = list
            .windows(2)
            .map(|two| match two {
                [Value::Int(one), Value::Int(other)] => other - one,
                _ => panic!(),
            })
            .collect();
        assert!(steps.iter().all(|step| (4..=7).contains(step)), "{steps:?}");
    }

    /// The timed slice of a part has documents of the part: times of a format that is checked on the
    /// part and one that is timed on the slice are of the same.
    #[test]
    fn a_slice_of_a_part_is_cut_from_the_part() {
        let folder = tempfile::tempdir().unwrap();
        let sub = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).unwrap();
            path
        };
        let lines: String = (0..1_000).map(|index| format!("{{\"id\":{index}}}\n")).collect();
        let whole = sub("whole");
        std::fs::write(whole.join("base"), lines).unwrap();
        let whole = References::from_base(Shape::Stream, &whole, None).unwrap();
        let size = PartSize { whole: 1_000, part: 1_200 };
        let smaller = whole.smaller(size, &sub("part")).unwrap().unwrap();
        assert_eq!((smaller.every, smaller.references.documents), (9, 112));
        let slice = smaller.references.slice(2, &sub("slice")).unwrap();
        let text = std::fs::read_to_string(folder.path().join("slice/base")).unwrap();
        let ids: Vec<u64> = text
            .lines()
            .map(|line| line.trim_start_matches("{\"id\":").trim_end_matches('}').parse().unwrap())
            .collect();
        assert_eq!((slice.documents, ids.len()), (56, 56));
        assert!(ids.iter().enumerate().all(|(index, id)| *id == 18 * index as u64), "{ids:?}");
    }

    #[test]
    fn what_has_no_large_array_or_shares_values_has_no_part() {
        let mut map = Value::Map((0..100).map(|i| (Value::Int(i), text("x"))).collect());
        assert!(shrink(&mut map, 0.1).is_none());
        let mut shared = Value::Array(vec![Value::Alias(1); 100]);
        assert!(shrink(&mut shared, 0.1).is_none());
    }
}
