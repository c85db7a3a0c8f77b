//! What `--version --verbose` prints: how this command was built.

/// Returns the version, followed by a line for each fact about the build.
pub fn verbose() -> &'static str {
    let features = match (cfg!(feature = "gateway"), cfg!(feature = "servers")) {
        (true, true) => "gateway, servers",
        (true, false) => "gateway",
        (false, true) => "servers",
        (false, false) => "none",
    };
    let text = format!(
        "{}\ncommit: {}\ntarget: {}\nfeatures: {features}\nSQLite: {}",
        env!("CARGO_PKG_VERSION"),
        env!("REGAUGE_COMMIT"),
        env!("REGAUGE_TARGET"),
        regauge_store::engine::sqlite_version(),
    );
    // clap keeps a version for as long as the program runs.
    text.leak()
}
