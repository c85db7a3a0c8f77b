//! Shows a measurement: in a terminal, as a page, as tables for a spreadsheet, as charts.
//!
//! [`screen`] writes the short answer as text, [`render`] all tables. [`files`] makes the page and what
//! belongs to it in memory, [`Destination`] puts them into a folder. The page is one
//! self-contained file that contacts no server: style, script and charts are in it. All foreign
//! text (names of files and contenders, values of documents) goes through `text::visible` and
//! through the escaping of maud or plotters. As a second line of defence, a content security policy
//! allows only the page's own style and script, by their hashes.

#![forbid(unsafe_code)]

mod answer;
mod canvas;
mod charts;
mod fastest;
mod folder;
mod full;
mod names;
mod page;
mod png;
mod scale;
mod screen;
mod table;
mod tables;
mod text;
mod words;
pub mod xray;

use regauge_measure::Report;

pub use folder::{Destination, Error};
pub use full::{Layout, render, render_comparison, render_safety};
pub use screen::{View, screen};

/// The name of the page in the folder.
pub const PAGE: &str = "report.html";

/// Returns the page alone, which names no other files.
#[must_use]
pub fn page(report: &Report) -> String {
    page::html(report, &charts::all(report), None)
}

/// Returns every file of a report: its path inside the folder, and its content.
///
/// # Errors
/// `Chart`, when a chart could not be made a PNG.
pub fn files(report: &Report) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let figures = charts::all(report);
    let tables = tables::all(report);
    let names: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
    let mut files = vec![
        (PAGE.to_owned(), page::html(report, &figures, Some(&names)).into_bytes()),
        ("results.json".to_owned(), report.to_json().into_bytes()),
    ];
    for (name, content) in tables {
        files.push((format!("tables/{name}"), content.into_bytes()));
    }
    for figure in &figures {
        let svg = figure.svg();
        let png =
            png::render(&svg).map_err(|reason| Error::Chart { id: figure.id.clone(), reason })?;
        files.push((format!("charts/{}.svg", figure.id), svg.into_bytes()));
        files.push((format!("charts/{}.png", figure.id), png));
    }
    Ok(files)
}
