// runtime: native
// name: Rust
// suffix: rs
// command: {data}/native/release/regauge-contenders {adapter}
// have: cargo --version
// step: name the manifest: cp {lab}/contenders/native/manifest.toml {lab}/contenders/native/Cargo.toml
// step: build for this processor: cargo --config "build.rustflags=['-Ctarget-cpu=native']" build --quiet --release --manifest-path {lab}/contenders/native/Cargo.toml --target-dir {data}/native

//! Runs the Rust contenders that choose their SIMD code at compile time. The set-up builds this
//! program for the machine's own processor, as their authors recommend; `regauge` itself is built
//! for any. Like the other runners, it takes an adapter; all of them are compiled in.

#[path = "native/bench.rs"]
mod bench;
#[path = "../contenders/native/simd_json.rs"]
mod simd_json_native;
#[path = "../contenders/native/sonic_rs.rs"]
mod sonic_rs_native;

use std::io::{stdin, stdout};
use std::path::Path;

use bench::Bench;

fn main() -> std::io::Result<()> {
    let adapter = std::env::args_os().nth(1).unwrap_or_default();
    let (commands, answers) = (stdin().lock(), stdout().lock());
    match Path::new(&adapter).file_stem().and_then(|name| name.to_str()) {
        Some("simd_json") => Bench::new(simd_json_native::Contender).serve(commands, answers),
        Some("sonic_rs") => Bench::new(sonic_rs_native::Contender).serve(commands, answers),
        _ => Err(std::io::Error::new(
            std::io::ErrorKind::NotFound,
            format!("{} was not compiled into this program", adapter.display()),
        )),
    }
}
