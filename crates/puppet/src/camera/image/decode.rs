//! Decoding of PNG and JPEG, in bounded memory.

use std::io::Cursor;

use png::Transformations;
use zune_jpeg::{
    JpegDecoder,
    zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions},
};

use super::{Image, ImageError, are_sides};

const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
const JPEG_SIGNATURE: &[u8] = b"\xff\xd8\xff";
/// Memory limit for decoding one PNG, in bytes. A JPEG needs memory for its pixels only.
const MAX_PNG_BYTES: usize = 128 << 20;

/// Decodes a PNG or JPEG. Transparent pixels are blended with white.
pub(super) fn decode(bytes: &[u8]) -> Result<Image, ImageError> {
    if bytes.starts_with(PNG_SIGNATURE) {
        png(bytes)
    } else if bytes.starts_with(JPEG_SIGNATURE) {
        jpeg(bytes)
    } else {
        Err(ImageError::Format)
    }
}

fn png(bytes: &[u8]) -> Result<Image, ImageError> {
    let limits = png::Limits { bytes: MAX_PNG_BYTES };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    // no palettes, and 8 bits per channel
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(damaged)?;
    let (width, height) = reader.info().size();
    let (width, height) = checked(width as usize, height as usize)?;
    let length = reader.output_buffer_size().ok_or(ImageError::Size { width, height })?;
    let mut samples = vec![0; length];
    let frame = reader.next_frame(&mut samples).map_err(damaged)?;
    samples.truncate(frame.buffer_size());
    let rgb = match frame.color_type {
        png::ColorType::Grayscale => spread(&samples),
        png::ColorType::GrayscaleAlpha => {
            samples.as_chunks().0.iter().flat_map(|&[grey, opacity]| [on_white(grey, opacity); 3]).collect()
        }
        png::ColorType::Rgb => samples,
        png::ColorType::Rgba => {
            let pixels = samples.as_chunks().0.iter();
            pixels.flat_map(|&[r, g, b, opacity]| [r, g, b].map(|part| on_white(part, opacity))).collect()
        }
        png::ColorType::Indexed => return Err(ImageError::Decode { reason: "the palette was not applied".to_owned() }),
    };
    Ok(Image { width, height, rgb })
}

fn jpeg(bytes: &[u8]) -> Result<Image, ImageError> {
    // larger images are refused by their size, as those of the other format
    let options = DecoderOptions::default().set_max_width(usize::MAX).set_max_height(usize::MAX);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(damaged)?;
    let (width, height) = decoder.dimensions().ok_or(ImageError::Format)?;
    let (width, height) = checked(width, height)?;
    let is_grey = decoder.input_colorspace() == Some(ColorSpace::Luma);
    let space = if is_grey { ColorSpace::Luma } else { ColorSpace::RGB };
    decoder.set_options(options.jpeg_set_out_colorspace(space));
    let samples = decoder.decode().map_err(damaged)?;
    Ok(Image { width, height, rgb: if is_grey { spread(&samples) } else { samples } })
}

fn damaged(error: impl std::fmt::Display) -> ImageError {
    ImageError::Decode { reason: error.to_string() }
}

fn checked(width: usize, height: usize) -> Result<(usize, usize), ImageError> {
    if are_sides(width, height) { Ok((width, height)) } else { Err(ImageError::Size { width, height }) }
}

/// The colours of grey pixels.
fn spread(grey: &[u8]) -> Vec<u8> {
    grey.iter().flat_map(|part| [*part; 3]).collect()
}

fn on_white(part: u8, opacity: u8) -> u8 {
    let (part, opacity) = (u32::from(part), u32::from(opacity));
    ((part * opacity + 255 * (255 - opacity) + 127) / 255) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of some kind of pixels.
    fn written(color: png::ColorType, depth: png::BitDepth, width: u32, samples: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, 1);
        encoder.set_color(color);
        encoder.set_depth(depth);
        if color == png::ColorType::Indexed {
            encoder.set_palette(vec![1, 2, 3, 40, 50, 60]);
        }
        encoder.write_header().unwrap().write_image_data(samples).unwrap();
        bytes
    }

    #[test]
    fn all_kinds_of_pixels_are_read() {
        use png::{BitDepth::*, ColorType::*};
        for (color, depth, samples, expected) in [
            (Grayscale, Eight, &[9, 80][..], [9, 9, 9, 80, 80, 80]),
            (Grayscale, One, &[0b0100_0000], [0, 0, 0, 255, 255, 255]),
            (GrayscaleAlpha, Eight, &[7, 255, 7, 0], [7, 7, 7, 255, 255, 255]),
            (Indexed, Eight, &[1, 0], [40, 50, 60, 1, 2, 3]),
            (Rgb, Sixteen, &[5, 0, 6, 0, 7, 0, 8, 0, 9, 0, 10, 0], [5, 6, 7, 8, 9, 10]),
            (Rgba, Eight, &[200, 0, 0, 0, 200, 0, 0, 255], [255, 255, 255, 200, 0, 0]),
        ] {
            let image = decode(&written(color, depth, 2, samples)).unwrap();
            assert_eq!(image.rgb, expected, "{color:?} {depth:?}");
        }
        let mut grey = Vec::new();
        let encoder = jpeg_encoder::Encoder::new(&mut grey, 100);
        encoder.encode(&[90; 64], 8, 8, jpeg_encoder::ColorType::Luma).unwrap();
        assert_eq!(decode(&grey).unwrap().rgb, [90; 192]);
    }

    #[test]
    fn huge_images_are_refused() {
        let png = written(png::ColorType::Rgb, png::BitDepth::Eight, 5000, &[7; 15_000]);
        let mut jpeg = Vec::new();
        let encoder = jpeg_encoder::Encoder::new(&mut jpeg, 50);
        encoder.encode(&[7; 15_000], 5000, 1, jpeg_encoder::ColorType::Rgb).unwrap();
        for bytes in [png, jpeg] {
            assert!(matches!(decode(&bytes), Err(ImageError::Size { width: 5000, height: 1 })));
        }
    }
}
