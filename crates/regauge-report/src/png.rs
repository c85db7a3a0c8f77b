//! Renders charts as PNG with resvg and our own fonts.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use crate::canvas::{REGULAR, SEMIBOLD};

/// Pixels for each point of a chart.
const SHARPNESS: f32 = 2.0;

/// Renders a chart, which is an SVG document, as PNG.
///
/// # Errors
/// What is wrong with the SVG, in words.
pub fn render(svg: &str) -> Result<Vec<u8>, String> {
    let own = text_is_in_own_fonts(svg);
    let options =
        Options { fontdb: fonts(!own), font_family: "Inter".to_owned(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let size = tree
        .size()
        .to_int_size()
        .scale_by(SHARPNESS)
        .ok_or_else(|| "the chart has no size".to_owned())?;
    let mut picture = Pixmap::new(size.width(), size.height())
        .ok_or_else(|| "the chart is too large".to_owned())?;
    let scale = Transform::from_scale(SHARPNESS, SHARPNESS);
    resvg::render(&tree, scale, &mut picture.as_mut());
    picture.encode_png().map_err(|error| error.to_string())
}

/// Returns whether all characters are ones that our fonts have. If so, the picture is the same on
/// every machine; if not, the system's fonts help out.
fn text_is_in_own_fonts(svg: &str) -> bool {
    use skrifa::MetadataProvider as _;
    let font = skrifa::FontRef::new(REGULAR).expect("the font is whole");
    let glyphs = font.charmap();
    svg.chars().all(|character| character == '\n' || glyphs.map(character).is_some())
}

fn fonts(with_those_of_the_system: bool) -> Arc<fontdb::Database> {
    static OWN: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    static ALL: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let cell = if with_those_of_the_system { &ALL } else { &OWN };
    let load = || {
        let mut fonts = fontdb::Database::new();
        if with_those_of_the_system {
            fonts.load_system_fonts();
        }
        fonts.load_font_data(REGULAR.to_vec());
        fonts.load_font_data(SEMIBOLD.to_vec());
        fonts.set_sans_serif_family("Inter");
        Arc::new(fonts)
    };
    Arc::clone(cell.get_or_init(load))
}
