//! Describes a face in numbers: those of one person's pictures are close together, those of two people's are not.

use std::path::Path;

use super::net::{RtenNetwork, embedding_network};
use super::sampling::{Turned, cut, whole};
use super::{FacesError, Found, read};
use crate::camera::Image;

/// A face in 128 numbers. The distance of two is the euclidean one.
pub type Embedding = [f32; 128];

/// The network's files in the folder: the list of the weights, and the weights.
const FILES: [&str; 2] =
    ["package/model/face_recognition_model-weights_manifest.json", "package/model/face_recognition_model.bin"];
/// Most bytes of each, which have twenty thousand and six million.
const MAX_FILE_BYTES: [u64; 2] = [1 << 20, 16 << 20];
/// Height and width of the network's picture, in pixels.
const SIZE: usize = 150;
/// Mean red, green and blue of the pictures that the network has learnt from.
const MEAN: [f32; 3] = [122.782, 117.001, 104.298];

/// Where the middle of eyes and mouth is in the network's picture, and how far the eyes are from the mouth, as parts of
/// its side.
const MIDDLE: [f32; 2] = [0.5, 0.43];
const EYES_TO_MOUTH: f32 = 0.45;
/// Side of the network's picture, for a box that is 1 wide.
const PER_BOX: f32 = 1.2;

/// Makes [`Embedding`]s.
#[derive(Debug)]
pub struct Embedder {
    network: RtenNetwork,
}

impl Embedder {
    /// Reads the network from the folder that `scripts/fetch-puppet faces` gives.
    pub fn load(folder: &Path) -> Result<Embedder, FacesError> {
        let [list, weights] = FILES.map(|file| folder.join(file));
        let network = embedding_network(&read(&list, MAX_FILE_BYTES[0])?, &read(&weights, MAX_FILE_BYTES[1])?);
        let network = network.map_err(|reason| FacesError::Broken { path: weights.clone(), reason })?;
        let embedder = Embedder { network };
        // a first run shows that what comes out is what is read here
        embedder.run(vec![0.0; 3 * SIZE * SIZE]).map_err(|reason| FacesError::Broken { path: weights, reason })?;
        Ok(embedder)
    }

    /// The numbers of a face in a picture.
    pub fn embed(&self, image: &Image, face: &Found) -> Result<Embedding, FacesError> {
        if !whole(image) {
            return Err(FacesError::NoFace { id: None });
        }
        let square = square(image, face);
        if !square.centre.iter().chain(&square.right).all(|number| number.is_finite()) {
            return Err(FacesError::NoFace { id: None });
        }
        self.run(cut(image, square, SIZE, MEAN)).map_err(|reason| FacesError::Run { reason })
    }

    fn run(&self, picture: Vec<f32>) -> Result<Embedding, String> {
        let outputs = self.network.run(picture)?;
        let numbers = outputs.first().and_then(|numbers| Embedding::try_from(&numbers[..]).ok());
        let numbers = numbers.ok_or("it does not give 128 numbers")?;
        if numbers.iter().all(|number| number.is_finite()) { Ok(numbers) } else { Err("it gives no numbers".into()) }
    }
}

/// The square around a face that the network wants to see: upright and filled with it.
fn square(image: &Image, face: &Found) -> Turned {
    if let (Some([left, right]), Some(mouth)) = (face.eyes, face.mouth) {
        let distance = |a: [f32; 2], b: [f32; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
        let side = (distance(left, mouth) + distance(right, mouth)) / 2.0 / EYES_TO_MOUTH;
        let between = distance(left, right);
        if between > 0.0 && side > 0.0 {
            let along = [(right[0] - left[0]) / between, (right[1] - left[1]) / between];
            let middle = [0, 1].map(|axis| (left[axis] + right[axis] + mouth[axis]) / 3.0);
            // from the middle of eyes and mouth to that of the square
            let (to_right, down) = ((0.5 - MIDDLE[0]) * side, (0.5 - MIDDLE[1]) * side);
            let centre =
                [middle[0] + along[0] * to_right - along[1] * down, middle[1] + along[1] * to_right + along[0] * down];
            return Turned { centre, right: along.map(|part| part * side) };
        }
    }
    let (width, height) = (image.width as f32, image.height as f32);
    let centre = [(face.x + 1.0) / 2.0 * width, (face.y + 1.0) / 2.0 * height];
    Turned { centre, right: [PER_BOX * (face.width * width).max(face.height * height).max(1.0), 0.0] }
}
