//! Values of a time series: stored with their times, and read back many at a time.
//!
//! The calling thread reads a range of a series page by page while other threads decode: one call
//! returns hundreds of values, decoded by all cores.

use std::num::NonZeroUsize;
use std::sync::{Mutex, mpsc};

use regauge::tape::Tape;
use regauge::values;
use regauge::{Format, Options, Value};

use crate::codec::Packer;
use crate::engine::{Order, Pair, Range, narrow_after};
use crate::error::{Error, Result};
use crate::series::{Buckets, DAY, Series, TimeNs};
use crate::store::{Entry, Store, direct};

/// Values that a thread takes at a time.
const PIECE: usize = 16;
/// Below this many values, starting threads does not pay off.
const FEW: usize = 2 * PIECE;
/// Values per page.
const PAGE: usize = 1_000;
/// Maximum number of decoding threads.
const THREADS: usize = 16;

/// A span of a series.
#[derive(Clone, Debug)]
pub struct Span {
    /// The series.
    pub series: Series,
    /// The first time that belongs to it; `None` starts at the very first.
    pub from: Option<TimeNs>,
    /// The first time after it; `None` has no end.
    pub till: Option<TimeNs>,
    /// Oldest first, or newest first.
    pub order: Order,
    /// Maximum number of values, the first ones in this order.
    pub limit: usize,
    /// Stops reading pages once they reach this many stored bytes in total.
    pub bytes: usize,
}

impl Span {
    /// Selects a whole series, oldest first.
    #[must_use]
    pub fn whole(series: Series) -> Span {
        Span {
            series,
            from: None,
            till: None,
            order: Order::Ascending,
            limit: usize::MAX,
            bytes: usize::MAX,
        }
    }

    fn range(&self) -> Range {
        let whole = self.series.whole();
        Range {
            from: self.from.map_or(whole.from, |time| Some(self.series.key(time))),
            to: self.till.map_or(whole.to, |time| Some(self.series.key(time))),
        }
    }
}

/// The result of a thread for a stored value.
pub type Decode<'d, T> = dyn Fn(&[u8], Entry) -> Result<T> + Sync + 'd;

/// A key with its decoded value, or its stored value if decoding failed.
type Decoded<T> = (Vec<u8>, std::result::Result<T, Vec<u8>>);

impl Store {
    /// Returns the series of this name. Its bucket length was recorded with its first value; until
    /// then it is a day.
    ///
    /// # Errors
    /// `Usage` for an invalid name; `Engine`.
    pub fn series(&self, name: &str) -> Result<Series> {
        let day = Series::new(name, DAY)?;
        match self.engine().note(&self.series_note(name))? {
            Some(note) => {
                let text = String::from_utf8_lossy(&note);
                let length = text.trim().strip_prefix("bucket_ns = ").map(str::parse::<u64>);
                let Some(Ok(length)) = length else {
                    return Err(Error::usage(format!("series {name}: found the note \"{text}\"")));
                };
                Series::new(name, std::time::Duration::from_nanos(length))
            }
            None => Ok(day),
        }
    }

    /// Returns the names of the series in this collection.
    ///
    /// # Errors
    /// `Engine`.
    pub fn series_names(&self) -> Result<Vec<String>> {
        let prefix = self.series_note("");
        let names = self.engine().notes(&prefix)?;
        Ok(names.iter().filter_map(|name| Some(name.strip_prefix(&prefix)?.to_owned())).collect())
    }

    /// Puts values that are in `format`, in one batch. The first ones of a series fix its bucket
    /// length permanently: as `buckets` says, or a day.
    ///
    /// # Errors
    /// Those of [`Store::put_many`]; `Usage` if the series already has other buckets.
    pub fn put_slices(
        &mut self,
        name: &str,
        buckets: Option<Buckets>,
        slices: &[(TimeNs, &[u8])],
        format: Format,
    ) -> Result<Series> {
        let note = self.series_note(name);
        if self.engine().note(&note)?.is_none() {
            let sizes: Vec<(TimeNs, usize)> =
                slices.iter().map(|(time, document)| (*time, document.len())).collect();
            let length = buckets.unwrap_or(Buckets::Every(DAY)).length(&sizes);
            let text = format!("bucket_ns = {}\n", Series::new(name, length)?.bucket_ns());
            self.engine().set_note(&note, Some(text.as_bytes()))?;
        }
        // Another process may have recorded it at the same moment: what is stored now counts.
        let series = self.series(name)?;
        if let Some(Buckets::Every(wanted)) = buckets
            && series != Series::new(name, wanted)?
        {
            return Err(Error::usage(format!(
                "series {name} has buckets of {} s, which cannot be changed",
                series.bucket_ns() / 1_000_000_000
            )));
        }
        let keys: Vec<Vec<u8>> = slices.iter().map(|(time, _)| series.key(*time)).collect();
        let documents: Vec<(&[u8], Option<&[u8]>)> = keys
            .iter()
            .zip(slices)
            .map(|(key, (_, document))| (&key[..], Some(*document)))
            .collect();
        self.put_many(&documents, format)?;
        Ok(series)
    }

    /// Returns the values of a span as documents in `format`, with their times.
    ///
    /// # Errors
    /// Those of [`Store::get`].
    pub fn slices(&mut self, span: &Span, format: Format) -> Result<Vec<(TimeNs, Vec<u8>)>> {
        let converter = self.converter();
        self.slices_with(span, &|key, entry| converter.document(key, entry, format))
    }

    /// Returns the values of a span as owned trees, with their times. [`Store::slice_tapes`] is
    /// faster.
    ///
    /// # Errors
    /// `Damaged`, `Document`, `Engine`.
    pub fn slice_values(&mut self, span: &Span) -> Result<Vec<(TimeNs, Value)>> {
        let (limits, unwrap) = (self.limits, self.unwrap);
        self.slices_with(span, &|key, entry| {
            let mut options = Options::new(entry.codec.format, entry.codec.format);
            (options.limits, options.unwrap) = (limits, unwrap);
            let read = values::read_values(&entry.document, &options);
            let mut read = read.map_err(|error| Error::document(key, error))?;
            match (read.pop(), read.is_empty()) {
                (Some(value), true) => Ok(value),
                _ => Err(Error::damaged(key, direct::NOT_ONE)),
            }
        })
    }

    /// Returns the values of a span as tapes, with their times: everything in them is decoded, into
    /// two allocations each, and accessed through [`Tape::root`].
    ///
    /// # Errors
    /// `Damaged`, `Document`, `Engine`.
    pub fn slice_tapes(&mut self, span: &Span) -> Result<Vec<(TimeNs, Tape)>> {
        let (limits, unwrap) = (self.limits, self.unwrap);
        self.slices_with(span, &|key, entry| entry.tape(key, limits, unwrap))
    }

    /// Returns the results of `decode` for the values of a span, with their times. It is called by
    /// several threads at once.
    ///
    /// # Errors
    /// `Damaged`, `Engine`, and those of `decode`.
    pub fn slices_with<T: Send>(
        &mut self,
        span: &Span,
        decode: &Decode<'_, T>,
    ) -> Result<Vec<(TimeNs, T)>> {
        if !self.is_there()? {
            return Ok(Vec::new());
        }
        let decoded = self.decoded(span, decode)?;
        let mut all = Vec::with_capacity(decoded.len());
        for (key, found) in decoded {
            let Some(time) = span.series.time(&key) else { continue };
            let value = match found {
                Ok(value) => value,
                // Retried here with dictionaries that others may have trained meanwhile.
                Err(stored) => {
                    let entry = self.unseal(&key, &stored)?;
                    decode(&key, entry)?
                }
            };
            all.push((time, value));
        }
        Ok(all)
    }

    /// Returns the keys of a span, each with its decoded value, or its stored value if decoding
    /// failed.
    fn decoded<T: Send>(&mut self, span: &Span, decode: &Decode<'_, T>) -> Result<Vec<Decoded<T>>> {
        let settings = self.settings().clone();
        let one = |packer: &mut Packer, (key, stored): Pair| {
            let entry = settings.unseal(packer, &key, &stored);
            let made = entry.and_then(|entry| decode(&key, entry)).map_err(|_| stored);
            (key, made)
        };
        let mut pages = Pages::new(self, span);
        let first = pages.next(self)?;
        if first.len() < FEW {
            let mut packer = self.another_packer()?;
            let (mut decoded, mut page) = (Vec::new(), first);
            // A page of large values is short as well.
            while !page.is_empty() {
                decoded.extend(page.into_iter().map(|pair| one(&mut packer, pair)));
                page = pages.next(self)?;
            }
            return Ok(decoded);
        }
        let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let packers: Vec<Packer> =
            (0..threads.min(THREADS)).map(|_| self.another_packer()).collect::<Result<_>>()?;
        let (give, take) = mpsc::channel::<(usize, Vec<Pair>)>();
        let take = Mutex::new(take);
        let made = Mutex::new(Vec::new());
        let (one, take, made_by) = (&one, &take, &made);
        std::thread::scope(|scope| -> Result {
            for mut packer in packers {
                scope.spawn(move || {
                    let next =
                        || take.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).recv();
                    while let Ok((place, pairs)) = next() {
                        let piece: Vec<_> =
                            pairs.into_iter().map(|pair| one(&mut packer, pair)).collect();
                        let mut made =
                            made_by.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                        made.push((place, piece));
                    }
                });
            }
            // They end when this end of the channel is dropped, whatever happens.
            let give = give;
            let mut page = first;
            let mut place = 0;
            while !page.is_empty() {
                let mut pairs = page.into_iter();
                loop {
                    let piece: Vec<Pair> = pairs.by_ref().take(PIECE).collect();
                    if piece.is_empty() {
                        break;
                    }
                    // Fails only if all threads have panicked, which the scope propagates.
                    let _ = give.send((place, piece));
                    place += 1;
                }
                page = pages.next(self)?;
            }
            Ok(())
        })?;
        let mut made = made.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        made.sort_unstable_by_key(|(place, _)| *place);
        Ok(made.into_iter().flat_map(|(_, piece)| piece).collect())
    }

    pub(crate) fn series_note(&self, name: &str) -> String {
        format!("series/{}/{name}", self.name())
    }
}

/// Iterates over the pages of a span.
struct Pages {
    series: Series,
    layout: crate::engine::Layout,
    rest: Range,
    order: Order,
    left: usize,
    bytes: usize,
}

impl Pages {
    fn new(store: &Store, span: &Span) -> Pages {
        Pages {
            series: span.series.clone(),
            layout: store.settings().layout.clone(),
            rest: span.range(),
            order: span.order,
            left: span.limit,
            bytes: span.bytes,
        }
    }

    /// Returns the next page, without keys that others have put between those of the series; empty
    /// at the end.
    fn next(&mut self, store: &Store) -> Result<Vec<Pair>> {
        let mut page = Vec::new();
        while self.left > 0 && page.is_empty() {
            let limit = self.left.min(PAGE);
            page = store.engine().page(&self.layout, &self.rest, self.order, limit)?;
            let is_last = page.last().is_none_or(|(last, _)| {
                !narrow_after(&mut self.rest, &self.layout, last, self.order)
            });
            page.retain(|(key, _)| self.series.time(key).is_some());
            self.left -= page.len();
            let bytes: usize = page.iter().map(|(_, value)| value.len()).sum();
            self.bytes = self.bytes.saturating_sub(bytes);
            if is_last || self.bytes == 0 {
                self.left = 0;
            }
        }
        Ok(page)
    }
}
