//! Compression of input and output, in every format and cut at every byte.

use liblzma::stream::LzmaOptions;

use super::*;

fn text() -> Vec<u8> {
    (0..60_000u32)
        .flat_map(|n| format!("{} ", n.wrapping_mul(2_654_435_761)).into_bytes())
        .collect()
}

fn pack(one: Compression, bytes: &[u8], level: Option<u32>, jobs: usize) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut encoder = one.encoder(&mut packed, level, jobs).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap();
    packed
}

fn unpack(one: Compression, packed: &[u8], limits: &Limits) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    one.decoder(packed, limits)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[test]
fn what_was_packed_is_unpacked_with_any_level_and_any_number_of_threads() {
    let text = text();
    for one in Compression::ALL {
        for jobs in [1, 3] {
            let ends = one.levels().map(|levels| [*levels.start(), 9.min(*levels.end())]);
            for level in [None].into_iter().chain(ends.into_iter().flatten().map(Some)) {
                for bytes in [&text[..], b"", b"x"] {
                    let packed = pack(one, bytes, level, jobs);
                    let name = one.name();
                    assert_eq!(Compression::from_magic(&packed), Some(one), "{name}");
                    let back = unpack(one, &packed, &Limits::default()).unwrap();
                    assert!(back == bytes, "{name}, level {level:?}, {jobs} jobs");
                }
            }
        }
    }
}

#[test]
fn members_and_frames_follow_each_other() {
    for one in Compression::ALL {
        let packed = [pack(one, b"one ", None, 1), pack(one, b"two", None, 2)].concat();
        let back = unpack(one, &packed, &Limits::default()).unwrap();
        assert_eq!(back.escape_ascii().to_string(), "one two", "{}", one.name());
    }
}

/// A truncated file is valid only if it ends at the end of a member or a frame, which no reader
/// can tell from a file that was written that way.
#[test]
fn a_file_cut_at_any_byte_is_an_error() {
    let text = &text()[..12_000];
    for one in Compression::ALL {
        let (first, second) =
            (pack(one, &text[..7000], None, 1), pack(one, &text[7000..], None, 1));
        let packed = [first.as_slice(), &second].concat();
        check_cuts(one, &packed, &text[..7000], first.len());
    }
}

#[test]
fn a_file_of_many_blocks_cut_at_any_byte_is_an_error() {
    let text = &text()[..12_000];
    // Blocks end where the writer flushes.
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    let mut zstd = zstd::Encoder::new(Vec::new(), 3).unwrap();
    let mut info = FrameInfo::new().block_checksums(true).content_checksum(true);
    let mut linked = FrameEncoder::with_frame_info(
        info.clone().block_mode(lz4_flex::frame::BlockMode::Linked),
        Vec::new(),
    );
    info = info.content_size(Some(text.len() as u64));
    let mut sized = FrameEncoder::with_frame_info(info, Vec::new());
    let mut plain = FrameEncoder::new(Vec::new());
    let mut xz = XzEncoder::new(Vec::new(), 1);
    for chunk in text.chunks(1000) {
        let writers: [&mut dyn Write; 6] =
            [&mut gzip, &mut zstd, &mut linked, &mut sized, &mut plain, &mut xz];
        for write in writers {
            write.write_all(chunk).unwrap();
            write.flush().unwrap();
        }
    }
    for (one, packed) in [
        (Compression::Gzip, gzip.finish().unwrap()),
        (Compression::Zstd, zstd.finish().unwrap()),
        (Compression::Lz4, linked.finish().unwrap()),
        (Compression::Lz4, sized.finish().unwrap()),
        (Compression::Lz4, plain.finish().unwrap()),
        (Compression::Xz, xz.finish().unwrap()),
    ] {
        assert!(unpack(one, &packed, &Limits::default()).unwrap() == text, "{}", one.name());
        check_cuts(one, &packed, b"", 0);
    }
}

/// `.lzma`, as joblib writes it, has no mark and no checksum.
#[test]
fn the_older_lzma_is_read() {
    let text = b"one two three, one two three".repeat(100);
    for dictionary in [1 << 12, 3 << 12, 1 << 23] {
        let mut options = LzmaOptions::new_preset(6).unwrap();
        options.dict_size(dictionary);
        let stream = Stream::new_lzma_encoder(&options).unwrap();
        let mut write = XzEncoder::new_stream(Vec::new(), stream);
        write.write_all(&text).unwrap();
        let packed = write.finish().unwrap();
        assert_eq!(Compression::from_magic(&packed), Some(Compression::Xz));
        assert!(Compression::Xz.can_begin(&packed));
        assert!(unpack(Compression::Xz, &packed, &Limits::default()).unwrap() == text);
        check_cuts(Compression::Xz, &packed, b"", 0);
    }
    for head in [
        &b"]\0\0\x80\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF"[..],
        b"]\0\0\x81\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
        b"]\0\x08\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
        b"]\0\0\x80\0\0\0\0\0\xFF\0\0\0",
        b"]              ",
    ] {
        assert_eq!(Compression::from_magic(head), None, "{}", head.escape_ascii());
    }
}

/// Cuts `packed` at each byte. Only at `end` (apart from 0) is it whole, and holds `first`.
#[track_caller]
fn check_cuts(one: Compression, packed: &[u8], first: &[u8], end: usize) {
    for cut in 0..packed.len() {
        let found = unpack(one, &packed[..cut], &Limits::default());
        if cut == end && cut > 0 {
            assert!(found.unwrap() == first, "{}", one.name());
            continue;
        }
        let name = format!("{} cut at {cut} of {}", one.name(), packed.len());
        let error = found.map(|bytes| bytes.len()).expect_err(&name).to_string();
        let expected = format!("the {} data ends early, after {cut} bytes", one.name());
        assert!(error.contains(&expected), "{name}: {error}");
    }
}

#[test]
fn frames_to_be_skipped_are_passed_over() {
    let skipped = |length: u8| {
        [&[0x57, 0x2A, 0x4D, 0x18, length, 0, 0, 0][..], &vec![7; length.into()]].concat()
    };
    let read = |one, bytes: &[u8]| unpack(one, bytes, &Limits::default());
    for one in [Compression::Lz4, Compression::Zstd] {
        let frame = pack(one, b"one two", None, 1);
        for length in [0, 5, 200] {
            let skip = skipped(length);
            let all = [&skip[..], &skip, &frame, &skip, &frame, &skip].concat();
            assert_eq!(Compression::from_magic(&all), Some(one));
            assert_eq!(read(one, &all).unwrap(), b"one twoone two");
            assert_eq!(Compression::from_magic(&skip), None);
            // Cut within the last one.
            assert!(length == 0 || read(one, &all[..all.len() - 1]).is_err());
        }
    }
}

#[test]
fn bytes_after_the_end_are_named() {
    for one in [Compression::Gzip, Compression::Lz4] {
        let packed = pack(one, b"one two", None, 1);
        for junk in [&b"j"[..], b"junk that is longer than any header", b"\0\0\0x"] {
            let error =
                unpack(one, &[&packed, junk].concat(), &Limits::default()).unwrap_err().to_string();
            assert!(error.contains("found other bytes after its end"), "{error}");
        }
    }
    // As tapes and GNU's gzip have it.
    let packed = [pack(Compression::Gzip, b"one two", None, 1), vec![0; 100_000]].concat();
    assert_eq!(unpack(Compression::Gzip, &packed, &Limits::default()).unwrap(), b"one two");
}

#[test]
fn legacy_frames_of_lz4_end_with_the_file() {
    // Block by block: `lz4 -l` writes a length and the block; there is no end mark.
    let block = lz4_flex::block::compress(b"one two");
    let length = u32::try_from(block.len()).unwrap().to_le_bytes();
    let packed = [&[0x02, 0x21, 0x4C, 0x18][..], &length, &block].concat();
    let read = |bytes: &[u8]| unpack(Compression::Lz4, bytes, &Limits::default());
    assert_eq!(read(&packed).unwrap(), b"one two");
    for cut in (0..packed.len()).filter(|cut| *cut != 4) {
        assert!(read(&packed[..cut]).is_err(), "cut at {cut}");
    }
}

#[test]
fn a_broken_file_is_an_error() {
    let text = &text()[..100_000];
    for one in Compression::ALL {
        let mut packed = pack(one, text, None, 1);
        let middle = packed.len() / 2;
        for byte in &mut packed[middle..middle + 8] {
            *byte ^= 0x55;
        }
        let error = unpack(one, &packed, &Limits::default()).expect_err(one.name());
        assert!(error.to_string().contains("check the file"), "{error}");
    }
}

#[test]
fn a_bomb_is_stopped() {
    let packed = pack(Compression::Zstd, &[b' '; 1 << 20], None, 1);
    // After a gibibyte of data.
    let run = |expansion: u64| {
        let consumed = Arc::new(AtomicU64::new(1 << 20));
        let inner =
            zstd::Decoder::new(Counted { read: &packed[..], consumed: Arc::clone(&consumed) });
        let compression = Compression::Zstd;
        let produced = Limits::EXPANSION_FREE - 1000;
        let mut guard = Guard {
            inner: inner.unwrap(),
            compression,
            consumed,
            produced,
            expansion,
            window_bytes: 0,
        };
        io::copy(&mut guard, &mut io::sink())
    };
    let error = run(1000).unwrap_err();
    assert!(error.to_string().contains("the limit of expansion"), "{error}");
    for expansion in [1100, Limits::NONE.expansion] {
        assert_eq!(run(expansion).unwrap(), 1 << 20);
    }
}

#[test]
fn a_window_beyond_the_limit_is_named_and_can_be_had() {
    let text = &text()[..100_000];
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).unwrap();
    zstd.window_log(28).unwrap();
    zstd.long_distance_matching(true).unwrap();
    zstd.write_all(text).unwrap();
    let mut options = liblzma::stream::LzmaOptions::new_preset(1).unwrap();
    options.dict_size(130 << 20);
    let mut filters = liblzma::stream::Filters::new();
    filters.lzma2(&options);
    let stream = Stream::new_stream_encoder(&filters, Check::Crc64).unwrap();
    let mut xz = XzEncoder::new_stream(Vec::new(), stream);
    xz.write_all(text).unwrap();
    for (one, packed) in
        [(Compression::Zstd, zstd.finish().unwrap()), (Compression::Xz, xz.finish().unwrap())]
    {
        let error = unpack(one, &packed, &Limits::default()).unwrap_err().to_string();
        let expected = format!(
            "the {} data needs a window of more than 134217728 bytes, the limit of \
             window_bytes; set `limits.window_bytes` to raise it",
            one.name()
        );
        assert!(error.starts_with(&expected), "{error}");
        let mut limits = Limits::default();
        limits.window_bytes = 256 << 20;
        assert!(unpack(one, &packed, &limits).unwrap() == text);
        assert!(unpack(one, &packed, &Limits::NONE).unwrap() == text);
    }
}

#[test]
fn suffixes() {
    for (name, compression, stem) in [
        ("a.json.gz", Some(Compression::Gzip), "a.json"),
        ("A.JSON.GZ", Some(Compression::Gzip), "A.JSON"),
        ("a.zst", Some(Compression::Zstd), "a"),
        ("a.bz2", Some(Compression::Bzip2), "a"),
        ("gz", None, "gz"),
        ("ägz", None, "ägz"),
        ("a.json", None, "a.json"),
    ] {
        assert_eq!(Compression::from_name(name), (compression, stem), "{name}");
    }
}
