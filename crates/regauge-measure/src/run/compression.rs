//! Compresses the reference bytes as a file or a wire would have them, and times it: gzip -6, zstd
//! -3 and lz4, all in this process, on one thread.
//!
//! All bytes of a reference are one stream. Buffers are kept between passes, so that the cost of
//! allocating memory is not counted repeatedly.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hasher};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;

use crate::model::error::Error;
use crate::model::random::Random;
use crate::model::report::Compression;
use crate::model::stats::{self, Estimate};
use crate::plan::options::{Progress, Stage};
use crate::plan::reference::{Bytes, References};
use crate::run::gzip::{gzip, gzip_bytes, gzip_of};

/// Samples of each, if there is time.
const SAMPLES_MAX: usize = 9;

/// A way to compress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Codec {
    Gzip,
    Zstd,
    Lz4,
}

/// The codec whose sizes have columns of their own.
pub(crate) const GZIP: &str = "gzip -6";

const CODECS: [Codec; 3] = [Codec::Gzip, Codec::Zstd, Codec::Lz4];

impl Codec {
    fn name(self) -> &'static str {
        match self {
            Codec::Gzip => GZIP,
            Codec::Zstd => "zstd -3",
            Codec::Lz4 => "lz4",
        }
    }

    /// Compresses into `packed`, which is cleared first.
    fn compress(self, plain: &[u8], packed: &mut Vec<u8>) -> std::io::Result<()> {
        packed.clear();
        match self {
            Codec::Gzip => gzip(plain, packed).map(|_| ()),
            Codec::Zstd => {
                let mut encoder = zstd::Encoder::new(packed, 3)?;
                encoder.write_all(plain)?;
                encoder.finish().map(|_| ())
            }
            Codec::Lz4 => {
                let mut encoder = lz4_flex::frame::FrameEncoder::new(packed);
                encoder.write_all(plain)?;
                encoder.finish().map(|_| ()).map_err(std::io::Error::other)
            }
        }
    }

    /// Decompresses into `plain`, which is cleared first.
    fn decompress(self, packed: &[u8], plain: &mut Vec<u8>) -> std::io::Result<()> {
        plain.clear();
        match self {
            Codec::Gzip => GzDecoder::new(packed).read_to_end(plain),
            Codec::Zstd => zstd::Decoder::with_buffer(packed)?.read_to_end(plain),
            Codec::Lz4 => lz4_flex::frame::FrameDecoder::new(packed).read_to_end(plain),
        }
        .map(|_| ())
    }
}

/// Larger outputs are only gzipped: they would be held in memory.
const OUTPUT_MAX: u64 = 64 << 20;

/// The compressed sizes of contenders' outputs, by codec. Contenders often write the same bytes, which are
/// compressed once.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    known: Mutex<HashMap<(u64, u64), BTreeMap<String, u64>>>,
}

impl Outputs {
    /// Returns the sizes of a file with every codec, or with gzip alone if it is large.
    ///
    /// # Errors
    /// `Io`, when it cannot be read.
    pub(crate) fn sizes(&self, path: &Path) -> Result<BTreeMap<String, u64>, Error> {
        let bytes = std::fs::metadata(path).map_err(Error::io("read", path))?.len();
        if bytes > OUTPUT_MAX {
            return Ok(BTreeMap::from([(GZIP.to_owned(), gzip_bytes(path)?)]));
        }
        let plain = std::fs::read(path).map_err(Error::io("read", path))?;
        let mut hasher = DefaultHasher::new();
        hasher.write(&plain);
        let key = (bytes, hasher.finish());
        if let Some(sizes) = self.known.lock().expect("no panic while locked").get(&key) {
            return Ok(sizes.clone());
        }
        let mut sizes = BTreeMap::new();
        let mut packed = Vec::new();
        for codec in CODECS {
            codec.compress(&plain, &mut packed).map_err(Error::io("compress", path))?;
            sizes.insert(codec.name().to_owned(), packed.len() as u64);
        }
        self.known.lock().expect("no panic while locked").insert(key, sizes.clone());
        Ok(sizes)
    }
}

/// One reference with one codec.
struct Job<'b> {
    reference: usize,
    bytes: &'b Bytes,
    codec: Codec,
    size: u64,
    compress_ns: Vec<f64>,
    decompress_ns: Vec<f64>,
}

/// Compresses every reference with every codec, repeatedly in shuffled rounds until `budget` runs
/// out (each at least once). Returns a list for each reference, in their order.
///
/// # Errors
/// `Io`, when a reference cannot be read, or does not come back as it was.
pub(crate) fn measure(
    references: &References,
    budget: Duration,
    seed: u64,
    stopped: &dyn Fn() -> bool,
    progress: &mut dyn Progress,
) -> Result<Vec<Vec<Compression>>, Error> {
    let began = Instant::now();
    let mut jobs: Vec<Job> = Vec::new();
    for (reference, bytes) in references.list.iter().enumerate() {
        jobs.extend(CODECS.into_iter().map(|codec| Job {
            reference,
            bytes,
            codec,
            size: 0,
            compress_ns: Vec::new(),
            decompress_ns: Vec::new(),
        }));
    }
    progress.begin(Stage::Compress, jobs.len() as u64);
    let mut random = Random::new(seed);
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    let (mut packed, mut plain) = (Vec::new(), Vec::new());
    'rounds: for round in 0..SAMPLES_MAX {
        random.shuffle(&mut order);
        for &place in &order {
            let over = round > 0 && began.elapsed() > budget;
            if over || stopped() {
                break 'rounds;
            }
            let job = &mut jobs[place];
            let failed = |doing| Error::io(doing, &job.bytes.path);
            let original = std::fs::read(&job.bytes.path).map_err(failed("read"))?;
            let start = Instant::now();
            job.codec.compress(&original, &mut packed).map_err(failed("compress"))?;
            job.compress_ns.push(start.elapsed().as_nanos() as f64);
            let start = Instant::now();
            job.codec.decompress(&packed, &mut plain).map_err(failed("decompress"))?;
            job.decompress_ns.push(start.elapsed().as_nanos() as f64);
            if plain != original {
                let changed = std::io::Error::other("it does not round-trip");
                return Err(failed("decompress")(changed));
            }
            job.size = packed.len() as u64;
            if round == 0 {
                progress.step(job.codec.name());
            }
        }
    }
    let mut lists = vec![Vec::new(); references.list.len()];
    for job in jobs {
        if job.decompress_ns.is_empty() {
            continue;
        }
        lists[job.reference].push(Compression {
            codec: job.codec.name().to_owned(),
            bytes: job.size,
            compress_ns: stats::estimate(&job.compress_ns, seed).unless_too_wide(),
            decompress_ns: stats::estimate(&job.decompress_ns, seed).unless_too_wide(),
        });
    }
    Ok(lists)
}

/// Scales a size of a part to the whole, as `part` grows to `whole`.
pub(crate) fn grown(bytes: u64, part: u64, whole: u64) -> u64 {
    (u128::from(bytes) * u128::from(whole) / u128::from(part.max(1))) as u64
}

/// Scales the compression of a part to the whole: times and sizes in proportion to the bytes, but
/// `gzip` is the size after gzip. The result is in the order of the whole, which may lack a format that
/// holds the part.
pub(crate) fn of_the_whole(
    lists: &[Vec<Compression>],
    part: &References,
    whole: &References,
    gzip: &[(String, u64)],
) -> Vec<Vec<Compression>> {
    let scaled = |estimate: Estimate, factor: f64| Estimate {
        median: estimate.median * factor,
        low: estimate.low * factor,
        high: estimate.high * factor,
        ..estimate
    };
    let of = |large: &Bytes| -> Vec<Compression> {
        let mut pairs = lists.iter().zip(&part.list);
        let Some((list, small)) = pairs.find(|(_, small)| small.name() == large.name()) else {
            return Vec::new();
        };
        let factor = large.bytes as f64 / small.bytes.max(1) as f64;
        list.iter()
            .map(|one| Compression {
                codec: one.codec.clone(),
                bytes: match one.codec == GZIP {
                    true => gzip_of(gzip, &large.name()),
                    false => grown(one.bytes, small.bytes, large.bytes),
                },
                compress_ns: scaled(one.compress_ns, factor),
                decompress_ns: scaled(one.decompress_ns, factor),
            })
            .collect()
    };
    whole.list.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::input::{Files, InputFile};
    use crate::plan::options::Quiet;
    use crate::run::gzip::gzip_scaled;

    fn references(folder: &std::path::Path) -> References {
        let path = folder.join("a.ndjson");
        let lines: String = (0..500)
            .map(|i| format!("{{\"name\": \"n{i}\", \"list\": [1, 2.5, null]}}\n"))
            .collect();
        std::fs::write(&path, lines).unwrap();
        let file = InputFile { path, name: "a.ndjson".into(), format: regauge::Format::Ndjson };
        References::write(&Files { list: vec![file], notes: Vec::new() }, folder).unwrap()
    }

    #[test]
    fn every_reference_is_compressed_in_three_ways() {
        let folder = tempfile::tempdir().unwrap();
        let references = references(folder.path());
        let lists = measure(&references, Duration::from_secs(5), 1, &|| false, &mut Quiet).unwrap();
        assert_eq!(lists.len(), references.list.len());
        for (list, bytes) in lists.iter().zip(&references.list) {
            let names: Vec<&str> = list.iter().map(|one| one.codec.as_str()).collect();
            assert_eq!(names, ["gzip -6", "zstd -3", "lz4"]);
            for one in list {
                assert!(one.bytes > 0 && one.bytes < bytes.bytes / 3, "{one:?}");
                let time = one.compress_ns;
                assert!(0.0 < time.low && time.low <= time.median && time.median <= time.high);
                assert!(one.decompress_ns.median > 0.0);
            }
            assert_eq!(
                list[0].bytes,
                gzip_bytes(&bytes.path).unwrap(),
                "one size for the same bytes"
            );
            let sizes = Outputs::default().sizes(&bytes.path).unwrap();
            assert!(list.iter().all(|one| sizes[&one.codec] == one.bytes), "{sizes:?}: {list:?}");
        }
    }

    #[test]
    fn the_same_output_is_compressed_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("output");
        std::fs::write(&path, "regauge, ".repeat(1_000)).unwrap();
        let outputs = Outputs::default();
        let first = outputs.sizes(&path).unwrap();
        assert_eq!(first.keys().collect::<Vec<_>>(), ["gzip -6", "lz4", "zstd -3"]);
        assert_eq!(outputs.sizes(&path).unwrap(), first);
        assert_eq!(outputs.known.lock().unwrap().len(), 1);
        std::fs::write(&path, "regauge; ".repeat(1_000)).unwrap();
        outputs.sizes(&path).unwrap();
        assert_eq!(outputs.known.lock().unwrap().len(), 2, "as long, but other bytes");
    }

    /// A format that cannot hold the whole may hold the part: the others keep their own figures.
    #[test]
    fn what_a_part_compresses_to_is_scaled_format_by_format() {
        let folder = tempfile::tempdir().unwrap();
        let part = references(folder.path());
        let lists = measure(&part, Duration::ZERO, 1, &|| false, &mut Quiet).unwrap();
        let mut whole = part.clone();
        whole.list.remove(1);
        whole.list.iter_mut().for_each(|one| one.bytes *= 10);
        let gzip: Vec<_> = part.list.iter().map(|one| (one.name(), 7)).collect();
        let gzip = gzip_scaled(&gzip, &part, &whole);
        let scaled = of_the_whole(&lists, &part, &whole, &gzip);
        assert_eq!(scaled.len(), whole.list.len());
        for (index, (large, list)) in whole.list.iter().zip(&scaled).enumerate() {
            let place = part.list.iter().position(|one| one.name() == large.name()).unwrap();
            let (small, large_zstd) = (&lists[place][1], &list[1]);
            assert_eq!(large_zstd.bytes, small.bytes * 10, "{}", large.name());
            assert_eq!(large_zstd.compress_ns.median, small.compress_ns.median * 10.0);
            assert_eq!(gzip[index], (large.name(), 70));
            let one = list.iter().find(|one| one.codec == Codec::Gzip.name()).unwrap();
            assert_eq!(one.bytes, 70);
        }
    }

    #[test]
    fn what_other_programs_write_and_read() {
        let text = b"regauge, regauge, regauge".repeat(100);
        let (mut packed, mut plain) = (Vec::new(), Vec::new());
        for (codec, magic) in [
            (Codec::Gzip, &[0x1F, 0x8B][..]),
            (Codec::Zstd, &[0x28, 0xB5, 0x2F, 0xFD]),
            (Codec::Lz4, &[0x04, 0x22, 0x4D, 0x18]),
        ] {
            codec.compress(&text, &mut packed).unwrap();
            assert!(packed.starts_with(magic), "{codec:?}: {packed:02x?}");
            codec.decompress(&packed, &mut plain).unwrap();
            assert_eq!(plain, text);
            assert!(codec.decompress(&packed[..packed.len() / 2], &mut plain).is_err());
        }
    }

    #[test]
    fn without_time_each_is_done_once_and_when_stopped_none() {
        let folder = tempfile::tempdir().unwrap();
        let references = references(folder.path());
        let once = measure(&references, Duration::ZERO, 1, &|| false, &mut Quiet).unwrap();
        for one in once.iter().flatten() {
            assert_eq!(one.compress_ns.low, one.compress_ns.high, "one sample has no width");
        }
        let none = measure(&references, Duration::ZERO, 1, &|| true, &mut Quiet).unwrap();
        assert!(none.iter().all(Vec::is_empty));
    }
}
