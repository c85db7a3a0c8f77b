//! The fidelity matrix is the one shown in the documentation.

use std::process::Command;

/// `BLESS=1` rewrites the page.
#[test]
fn documented_matrix_is_the_real_one() {
    let ran = Command::new(env!("CARGO_BIN_EXE_regauge")).args(["formats", "--matrix"]).output();
    let ran = ran.expect("regauge runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let matrix = String::from_utf8(ran.stdout).expect("text");
    assert!(!matrix.contains('!'), "something changes without a word:\n{matrix}");
    let page = format!(
        "# What every conversion keeps\n\n\
         This is what `regauge formats --matrix` prints. Each entry was found by converting an \
         example of its kind;\na test keeps this page the same as what the program does \
         (`BLESS=1 cargo test -p regauge-cli --test matrix`\nwrites it anew).\n\n```text\n{matrix}```\n"
    );
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats/matrix.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &page).expect("the page can be written");
    }
    let documented = std::fs::read_to_string(path).expect("the page is there");
    assert!(documented == page, "docs/formats/matrix.md is not what regauge does: see BLESS above");
}
