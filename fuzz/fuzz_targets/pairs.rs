//! Any bytes through any pair of formats under any policy: no panic, and whatever `refuse` lets
//! through comes back unchanged, as does whatever `wrap` writes and `unwrap` reads.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regauge::documents::Documents;
use regauge::{Format, OnLoss, Options, convert_bytes};

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let choice = usize::from(*choice);
    let from = Format::ALL[choice % 6];
    let to = Format::ALL[choice / 6 % 6];
    let mut options = Options::new(from, to);
    options.on_loss = [OnLoss::Refuse, OnLoss::Approximate, OnLoss::Wrap][choice / 36 % 3];
    options.skip_bad = choice / 108 % 2 == 1;
    let is_wrapped = options.on_loss == OnLoss::Wrap && !options.skip_bad;
    if is_wrapped {
        options.documents = Documents::Keep;
    }
    let Ok(written) = convert_bytes(data, &options) else { return };
    // A reader accepts what the writer wrote, with the same meaning, NaN apart.
    let neutral = |from, bytes: &[u8]| {
        convert_bytes(bytes, &regauge_fuzz::checks::lossless(from, Format::Msgpack))
    };
    let read = neutral(to, &written).unwrap_or_else(|error| panic!("{from} to {to}: {error}"));
    if options.on_loss == OnLoss::Refuse && !options.skip_bad && !to.is_marc() && from == to {
        assert!(neutral(from, data).expect("read once already") == read, "{from} to {to}");
    }
    if is_wrapped && !from.is_marc() && !to.is_marc() {
        let mut undone = Options::new(to, from);
        (undone.unwrap, undone.documents) = (true, Documents::Keep);
        // Text that is not UTF-8, for example, is read but never written.
        let mut same = Options::new(from, from);
        same.documents = Documents::Keep;
        if convert_bytes(data, &same).is_err() {
            return;
        }
        let back =
            convert_bytes(&written, &undone).unwrap_or_else(|e| panic!("{from} to {to}: {e}"));
        // Singles become doubles, and the sign of a NaN, which has no meaning, is not kept, as in
        // Marshal.
        let shown = |bytes: &[u8]| {
            convert_bytes(bytes, &regauge_fuzz::checks::lossless(from, Format::Marshal))
        };
        let (before, after) = (shown(data), shown(&back));
        assert!(before.expect("read before") == after.expect("just written"), "{from} to {to}");
    }
});
