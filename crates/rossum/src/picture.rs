//! Pictures as SVG or, by the file name's extension, as PNG.

pub(crate) mod arena;
pub(crate) mod chart;

use std::{
    fmt::{self, Write},
    path::Path,
    sync::Arc,
};

use anyhow::{Context, bail};
use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{self, fontdb},
};
use support::output_file::{self, Existing};

/// Maximum side of a PNG, in pixels.
const MAX_SIDE: f32 = 8_000.0;
/// Pixels of a PNG per unit of the SVG.
const SCALE: f32 = 2.0;

/// An SVG picture. Later shapes cover earlier ones.
pub(crate) struct Svg {
    width: f64,
    height: f64,
    body: String,
}

/// Alignment of a text at a point.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    /// Starts there.
    Start,
    /// Centred there.
    Middle,
    /// Ends there.
    End,
}

impl Svg {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    /// Adds an SVG element verbatim.
    pub(crate) fn push(&mut self, element: fmt::Arguments<'_>) {
        // writing into memory does not fail
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }

    pub(crate) fn text(&mut self, [x, y]: [f64; 2], size: f64, color: &str, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        self.push(format_args!(
            r#"<text x="{x:.1}" y="{y:.1}" font-size="{size}" fill="{color}" text-anchor="{anchor}">{text}</text>"#
        ));
    }

    /// A closed polygon with these attributes.
    pub(crate) fn polygon(&mut self, points: impl IntoIterator<Item = [f64; 2]>, attributes: &str) {
        let points = joined(points);
        self.push(format_args!(r#"<polygon points="{points}" {attributes}/>"#));
    }

    /// An open line with these attributes; nothing for a single point.
    pub(crate) fn line(&mut self, points: impl IntoIterator<Item = [f64; 2]>, attributes: &str) {
        let points = joined(points);
        if points.split_whitespace().count() < 2 {
            return;
        }
        self.push(format_args!(r#"<polyline points="{points}" fill="none" {attributes}/>"#));
    }

    /// The SVG text.
    pub(crate) fn finish(&self) -> String {
        let Self { width, height, body } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
             {height}\" font-family=\"Ubuntu, Helvetica, Arial, sans-serif\">\n<rect width=\"100%\" height=\"100%\" \
             fill=\"#fff\"/>\n{body}</svg>\n"
        )
    }

    /// Writes the picture in the format of the file name's extension.
    pub(crate) fn write(&self, path: &Path, existing: Existing) -> anyhow::Result<()> {
        let text = self.finish();
        let bytes = match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => text.into_bytes(),
            Some("png") => png_from_svg(&text)?,
            _ => bail!("{}: the name of a picture ends in .svg or .png", path.display()),
        };
        Ok(output_file::write(path, &bytes, existing)?)
    }
}

fn joined(points: impl IntoIterator<Item = [f64; 2]>) -> String {
    let mut text = String::new();
    for [x, y] in points {
        let _ = write!(text, "{x:.2},{y:.2} ");
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A colour in SVG notation.
pub(crate) fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Renders an SVG, with two pixels per unit.
pub(crate) fn png_from_svg(text: &str) -> anyhow::Result<Vec<u8>> {
    let mut fonts = fontdb::Database::new();
    // a font of our own, so that a picture looks the same on a machine without any
    fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
    let options =
        usvg::Options { fontdb: Arc::new(fonts), font_family: "Ubuntu".to_owned(), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(text, &options).context("the picture cannot be drawn")?;
    let size = tree.size();
    let scale = SCALE.min(MAX_SIDE / size.width().max(size.height()));
    let (width, height) = ((size.width() * scale) as u32, (size.height() * scale) as u32);
    let mut pixels = Pixmap::new(width, height).context("the picture has no size")?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().context("the picture cannot be encoded")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_written_as_its_name_says() {
        let folder = tempfile::tempdir().unwrap();
        let mut svg = Svg::new(40.0, 20.0);
        svg.text([20.0, 15.0], 12.0, "#000", Anchor::Middle, "a < b & c");
        for (name, begins) in [("a.svg", b"<svg".as_slice()), ("a.png", b"\x89PNG")] {
            let path = folder.path().join(name);
            svg.write(&path, Existing::Keep).unwrap();
            assert!(std::fs::read(&path).unwrap().starts_with(begins), "{name}");
        }
        assert!(svg.finish().contains("a &lt; b &amp; c"));
        assert!(svg.write(Path::new("a.jpg"), Existing::Keep).is_err());
    }

    #[test]
    fn text_is_drawn_without_fonts_of_the_system() {
        let pixels = |text: &str| {
            let mut svg = Svg::new(100.0, 30.0);
            svg.text([50.0, 20.0], 16.0, "#000", Anchor::Middle, text);
            png_from_svg(&svg.finish()).unwrap()
        };
        assert_ne!(pixels("fitness"), pixels(""));
    }
}
