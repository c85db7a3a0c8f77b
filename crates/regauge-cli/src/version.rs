//! What `--version --verbose` prints: how this command was built.

/// Returns the version, followed by a line for each fact about the build.
pub fn verbose() -> &'static str {
    let features = [
        ("gateway", cfg!(feature = "gateway")),
        ("parquet", cfg!(feature = "parquet")),
        ("servers", cfg!(feature = "servers")),
    ];
    let features: Vec<_> = features.into_iter().filter(|one| one.1).map(|one| one.0).collect();
    let features = if features.is_empty() { "none".to_owned() } else { features.join(", ") };
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
