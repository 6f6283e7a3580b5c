//! Face embeddings: close together for images of the same person, far apart for different people.

use std::path::Path;

use super::net::{RtenNetwork, embedding_network};
use super::sampling::{RotatedSquare, crop, is_valid};
use super::{FaceDetection, FacesError, read};
use crate::camera::Image;

/// A face embedding; compared by Euclidean distance.
pub type Embedding = [f32; 128];

/// Paths of the weight manifest and the weights below the folder.
const FILES: [&str; 2] =
    ["package/model/face_recognition_model-weights_manifest.json", "package/model/face_recognition_model.bin"];
/// Maximum sizes, in bytes; they have twenty thousand and six million.
const MAX_FILE_BYTES: [u64; 2] = [1 << 20, 16 << 20];
/// Height and width of the network's input, in pixels.
const SIZE: usize = 150;
/// Mean red, green and blue of the training images.
const MEAN: [f32; 3] = [122.782, 117.001, 104.298];

/// Centroid of eyes and mouth in the network's input, and distance from eyes to mouth, as fractions of its side.
const MIDDLE: [f32; 2] = [0.5, 0.43];
const EYES_TO_MOUTH: f32 = 0.45;
/// Side of the input relative to the width of the bounding box.
const PER_BOX: f32 = 1.2;

/// Computes [`Embedding`]s.
#[derive(Debug)]
pub struct Embedder {
    network: RtenNetwork,
}

impl Embedder {
    /// Loads the model that `scripts/fetch-puppet faces` has downloaded into `folder`.
    pub fn load(folder: &Path) -> Result<Embedder, FacesError> {
        let [list, weights] = FILES.map(|file| folder.join(file));
        let network = embedding_network(&read(&list, MAX_FILE_BYTES[0])?, &read(&weights, MAX_FILE_BYTES[1])?);
        let network = network.map_err(|reason| FacesError::Invalid { path: weights.clone(), reason })?;
        let embedder = Embedder { network };
        // a trial run verifies the shape of the output
        embedder.run(vec![0.0; 3 * SIZE * SIZE]).map_err(|reason| FacesError::Invalid { path: weights, reason })?;
        Ok(embedder)
    }

    /// The embedding of a face in an image.
    pub fn embed(&self, image: &Image, face: &FaceDetection) -> Result<Embedding, FacesError> {
        if !is_valid(image) {
            return Err(FacesError::NoFace { id: None });
        }
        let square = square(image, face);
        if !square.centre.iter().chain(&square.right).all(|number| number.is_finite()) {
            return Err(FacesError::NoFace { id: None });
        }
        self.run(crop(image, square, SIZE, MEAN)).map_err(|reason| FacesError::Run { reason })
    }

    fn run(&self, picture: Vec<f32>) -> Result<Embedding, String> {
        let outputs = self.network.run(picture)?;
        let numbers = outputs.first().and_then(|numbers| Embedding::try_from(&numbers[..]).ok());
        let numbers = numbers.ok_or("the output does not have 128 values")?;
        if numbers.iter().all(|number| number.is_finite()) {
            Ok(numbers)
        } else {
            Err("the output is not finite".into())
        }
    }
}

/// The square around a face for the network's input: aligned with the eyes and filled by the face.
fn square(image: &Image, face: &FaceDetection) -> RotatedSquare {
    if let (Some([left, right]), Some(mouth)) = (face.eyes, face.mouth) {
        let distance = |a: [f32; 2], b: [f32; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
        let side = (distance(left, mouth) + distance(right, mouth)) / 2.0 / EYES_TO_MOUTH;
        let between = distance(left, right);
        if between > 0.0 && side > 0.0 {
            let along = [(right[0] - left[0]) / between, (right[1] - left[1]) / between];
            let middle = [0, 1].map(|axis| (left[axis] + right[axis] + mouth[axis]) / 3.0);
            // from the centroid of eyes and mouth to the centre of the square
            let (to_right, down) = ((0.5 - MIDDLE[0]) * side, (0.5 - MIDDLE[1]) * side);
            let centre =
                [middle[0] + along[0] * to_right - along[1] * down, middle[1] + along[1] * to_right + along[0] * down];
            return RotatedSquare { centre, right: along.map(|part| part * side) };
        }
    }
    let (width, height) = (image.width as f32, image.height as f32);
    let centre = [(face.x + 1.0) / 2.0 * width, (face.y + 1.0) / 2.0 * height];
    RotatedSquare { centre, right: [PER_BOX * (face.width * width).max(face.height * height).max(1.0), 0.0] }
}
