//! RGB images: decoding, encoding and scaling.

mod decode;

use jpeg_encoder::{Encoder, SamplingFactor};
use thiserror::Error;

/// Maximum width and height of an image, in pixels.
pub const MAX_SIDE: usize = 4096;

/// Error of decoding or encoding an image.
#[derive(Debug, Error)]
pub enum ImageError {
    /// The file is neither a PNG nor a JPEG.
    #[error("the image is neither a PNG nor a JPEG")]
    Format,
    /// The size is out of range, or does not match the pixel data.
    #[error("invalid image size {width} x {height}: width and height must be 1 to {MAX_SIDE} pixels")]
    Size {
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
    },
    /// The file is corrupt.
    #[error("failed to decode the image: {reason}")]
    Decode {
        /// Message of the decoder.
        reason: String,
    },
    /// The encoder failed.
    #[error("failed to encode the image: {reason}")]
    Encode {
        /// Message of the encoder.
        reason: String,
    },
}

/// An RGB image: rows from top to bottom, pixels from left to right, three bytes each.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Red, green and blue of each pixel, 0 to 255; `3 * width * height` bytes.
    pub rgb: Vec<u8>,
}

impl Image {
    /// A black image. Width and height are clamped to 1 to [`MAX_SIDE`].
    pub fn new(width: usize, height: usize) -> Self {
        let (width, height) = (width.clamp(1, MAX_SIDE), height.clamp(1, MAX_SIDE));
        Self { width, height, rgb: vec![0; 3 * width * height] }
    }

    /// Red, green and blue of the pixel in column `x` and row `y`, from the top left. `None` outside the image.
    pub fn pixel(&self, x: usize, y: usize) -> Option<[u8; 3]> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let start = 3 * (y * self.width + x);
        self.rgb.get(start..start + 3)?.try_into().ok()
    }

    /// Encodes as JPEG with 4:2:0 chroma subsampling. `quality` is clamped to 1 to 100.
    pub fn jpeg(&self, quality: u8) -> Result<Vec<u8>, ImageError> {
        let (width, height) = self.sides()?;
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, quality.clamp(1, 100));
        encoder.set_sampling_factor(SamplingFactor::R_4_2_0);
        let encoded = encoder.encode(&self.rgb, width, height, jpeg_encoder::ColorType::Rgb);
        encoded.map_err(|error| ImageError::Encode { reason: error.to_string() })?;
        Ok(bytes)
    }

    /// Encodes as PNG.
    pub fn png(&self) -> Result<Vec<u8>, ImageError> {
        let (width, height) = self.sides()?;
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width.into(), height.into());
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::Balanced);
        let encoded = encoder.write_header().and_then(|mut writer| writer.write_image_data(&self.rgb));
        encoded.map_err(|error| ImageError::Encode { reason: error.to_string() })?;
        Ok(bytes)
    }

    /// Decodes a PNG or JPEG. Transparent pixels are blended with white.
    pub fn read(bytes: &[u8]) -> Result<Self, ImageError> {
        decode::decode(bytes)
    }

    /// Scales the image with an area filter. Width and height are clamped to 1 to [`MAX_SIDE`].
    pub fn resized(&self, width: usize, height: usize) -> Self {
        let mut other = Self::new(width, height);
        if self.sides().is_err() {
            return other;
        }
        let (columns, rows) = (cover(self.width, other.width), cover(self.height, other.height));
        let places = rows.iter().flat_map(|row| columns.iter().map(move |column| (row, column)));
        for (pixel, (row, column)) in other.rgb.chunks_exact_mut(3).zip(places) {
            pixel.copy_from_slice(&self.mean(column, row));
        }
        other
    }

    /// Scales the image to cover this size and crops what is left over at the edges. Width and height are clamped to
    /// 1 to [`MAX_SIDE`].
    pub fn covering(&self, width: usize, height: usize) -> Self {
        let (width, height) = (width.clamp(1, MAX_SIDE), height.clamp(1, MAX_SIDE));
        if self.sides().is_err() {
            return Self::new(width, height);
        }
        let nearest = |a: usize, b: usize| (a + b / 2) / b;
        let kept_width = nearest(self.height * width, height).clamp(1, self.width);
        let kept_height = nearest(self.width * height, width).clamp(1, self.height);
        let (left, top) = ((self.width - kept_width) / 2, (self.height - kept_height) / 2);
        let rows = self.rgb.chunks_exact(3 * self.width).skip(top).take(kept_height);
        let rgb = rows.flat_map(|row| &row[3 * left..3 * (left + kept_width)]).copied().collect();
        Self { width: kept_width, height: kept_height, rgb }.resized(width, height)
    }

    /// Weighted mean of the pixels in these columns and rows.
    fn mean(&self, columns: &Cover, rows: &Cover) -> [u8; 3] {
        let mut sums = [0.0_f32; 3];
        for (y, row_weight) in (rows.first..).zip(&rows.weights) {
            let start = 3 * (y * self.width + columns.first);
            for (pixel, column_weight) in self.rgb[start..].chunks_exact(3).zip(&columns.weights) {
                for (sum, part) in sums.iter_mut().zip(pixel) {
                    *sum += f32::from(*part) * row_weight * column_weight;
                }
            }
        }
        sums.map(|sum| (sum + 0.5) as u8)
    }

    /// Width and height, if they are valid and match the pixel data.
    fn sides(&self) -> Result<(u16, u16), ImageError> {
        let (width, height) = (self.width, self.height);
        let is_valid = are_sides(width, height) && self.rgb.len() == 3 * width * height;
        match (u16::try_from(width), u16::try_from(height)) {
            (Ok(width), Ok(height)) if is_valid => Ok((width, height)),
            _ => Err(ImageError::Size { width, height }),
        }
    }
}

fn are_sides(width: usize, height: usize) -> bool {
    (1..=MAX_SIDE).contains(&width) && (1..=MAX_SIDE).contains(&height)
}

/// The source pixels that contribute to one target pixel, along one axis. The weights sum to 1.
struct Cover {
    first: usize,
    weights: Vec<f32>,
}

/// The coverage of each of `new` target pixels over `old` source pixels.
fn cover(old: usize, new: usize) -> Vec<Cover> {
    let scale = old as f32 / new as f32;
    let reach = scale.max(1.0);
    let one = |index: usize| {
        let centre = (index as f32 + 0.5) * scale;
        let (from, to) = (centre - reach / 2.0, centre + reach / 2.0);
        let first = (from.floor().max(0.0) as usize).min(old - 1);
        let last = (to.ceil() as usize).clamp(first + 1, old);
        let shared = |pixel: usize| ((pixel as f32 + 1.0).min(to) - (pixel as f32).max(from)).max(0.0);
        let mut weights: Vec<f32> = (first..last).map(shared).collect();
        let sum: f32 = weights.iter().sum();
        if sum > 0.0 {
            weights.iter_mut().for_each(|weight| *weight /= sum);
        } else {
            weights.fill(1.0 / (last - first) as f32);
        }
        Cover { first, weights }
    };
    (0..new).map(one).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Four colours, one in each quarter.
    fn quarters(width: usize, height: usize) -> Image {
        let mut image = Image::new(width, height);
        for (place, pixel) in image.rgb.chunks_exact_mut(3).enumerate() {
            let (right, low) = (place % width >= width / 2, place / width >= height / 2);
            pixel.copy_from_slice(&[if right { 250 } else { 10 }, if low { 200 } else { 30 }, 90]);
        }
        image
    }

    fn close(a: &Image, b: &Image, tolerance: u8) -> bool {
        (a.width, a.height) == (b.width, b.height) && a.rgb.iter().zip(&b.rgb).all(|(a, b)| a.abs_diff(*b) <= tolerance)
    }

    #[test]
    fn what_is_written_is_read() {
        let image = quarters(64, 32);
        assert_eq!(Image::read(&image.png().unwrap()).unwrap(), image);
        let jpeg = image.jpeg(90).unwrap();
        // colours run over their edges by a pixel
        assert!(close(&Image::read(&jpeg).unwrap().resized(2, 2), &image.resized(2, 2), 12));
        assert!(image.jpeg(20).unwrap().len() < jpeg.len());
        assert_eq!(Image::read(&Image::new(1, 1).jpeg(0).unwrap()).unwrap().rgb.len(), 3);
    }

    #[test]
    fn pixels_are_counted_from_the_top_left() {
        let image = quarters(8, 4);
        assert_eq!(image.pixel(0, 0), Some([10, 30, 90]));
        assert_eq!(image.pixel(7, 0), Some([250, 30, 90]));
        assert_eq!(image.pixel(0, 3), Some([10, 200, 90]));
        assert_eq!((image.pixel(8, 0), image.pixel(0, 4)), (None, None));
    }

    #[test]
    fn other_sizes_show_the_same() {
        let image = quarters(64, 32);
        for (width, height) in [(32, 16), (16, 32), (2, 2), (64, 32)] {
            assert!(close(&image.resized(width, height), &quarters(width, height), 1), "{width} x {height}");
        }
        let large = image.resized(128, 100);
        assert_eq!((large.pixel(0, 0), large.pixel(127, 99)), (Some([10, 30, 90]), Some([250, 200, 90])));
        assert_eq!(image.resized(1, 1).rgb, [130, 115, 90]);
    }

    #[test]
    fn what_covers_is_cut_and_not_stretched() {
        let columns =
            Image { width: 4, height: 2, rgb: [0, 40, 80, 120].repeat(2).iter().flat_map(|p| [*p; 3]).collect() };
        for (width, height, expected) in [
            (2, 2, vec![40, 80, 40, 80]),
            (1, 1, vec![60]),
            (4, 2, vec![0, 40, 80, 120, 0, 40, 80, 120]),
            (4, 1, vec![0, 40, 80, 120]),
        ] {
            let expected = expected.iter().flat_map(|p| [*p; 3]).collect();
            assert_eq!(columns.covering(width, height), Image { width, height, rgb: expected });
        }
        assert_eq!(Image { width: 4, height: 4, rgb: Vec::new() }.covering(2, 2), Image::new(2, 2));
    }

    #[test]
    fn invalid_images_are_refused() {
        for (bytes, expected) in [
            (&b""[..], "neither a PNG nor a JPEG"),
            (b"GIF89a..............", "neither a PNG nor a JPEG"),
            (b"\x89PNG\r\n\x1a\n", "failed to decode"),
            (b"\xff\xd8\xff\xe0", "failed to decode"),
        ] {
            let error = Image::read(bytes).unwrap_err().to_string();
            assert!(error.contains(expected), "{bytes:?}: {error}");
        }
        let broken = Image { width: 4, height: 4, rgb: vec![0; 5] };
        assert!(matches!(broken.jpeg(50), Err(ImageError::Size { .. })));
        assert!(matches!(broken.png(), Err(ImageError::Size { .. })));
        assert_eq!(broken.resized(2, 2), Image::new(2, 2));
    }

    proptest! {
        #[test]
        fn garbage_is_an_error_and_no_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), kind in 0_usize..3) {
            let head: &[u8] = [&b""[..], b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\xff\xd8\xff"][kind];
            bytes.splice(0..0, head.iter().copied());
            prop_assert!(Image::read(&bytes).is_err());
        }

        #[test]
        fn corrupt_images_do_not_panic(place in 0_usize..400, to in any::<u8>(), jpeg in any::<bool>()) {
            let image = quarters(16, 16);
            let mut bytes = if jpeg { image.jpeg(50).unwrap() } else { image.png().unwrap() };
            let place = place % bytes.len();
            bytes[place] = to;
            if let Ok(read) = Image::read(&bytes) {
                prop_assert_eq!(read.rgb.len(), 3 * read.width * read.height);
            }
        }

        #[test]
        fn any_size_can_be_made(width in 1_usize..40, height in 1_usize..40, to in (1_usize..40, 1_usize..40)) {
            let image = Image { width, height, rgb: vec![77; 3 * width * height] };
            let other = image.resized(to.0, to.1);
            prop_assert!(other.rgb.iter().all(|part| *part == 77), "{:?}", other);
            prop_assert_eq!(image.covering(to.0, to.1), other);
        }
    }
}
