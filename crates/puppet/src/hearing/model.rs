//! The recogniser: Moonshine, an encoder from sound to features and a decoder from features to tokens.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rten::{Dimension, Model, NodeId, RunOptions, ThreadPool, Value, ValueOrView};
use rten_tensor::{NdTensor, Tensor, prelude::*};

use super::search::{Scorer, search};
use super::tokens::Tokens;
use super::{Heard, HearingError, MAX_OPTIONS, MAX_SECONDS, MAX_TEXT, RATE, wav, words};

/// Where the files are in the folder that `scripts/fetch-puppet hearing` fills.
const ENCODER: &str = "package/dist/model/tiny/quantized/encoder_model.onnx";
const DECODER: &str = "package/dist/model/tiny/quantized/decoder_model_merged.onnx";
const TOKENS: &str = "moonshine_onnx/assets/tokenizer.json";

/// Bytes of each of the files at most.
const MAX_FILE: u64 = 256 << 20;

/// Shorter sound, in samples, has no features.
const MIN_SAMPLES: usize = RATE as usize / 10;

/// Nobody says more tokens in a second; what does is a loop.
const TOKENS_A_SECOND: f64 = 8.0;

/// What the recogniser is less sure of has not been understood. It says "You" to silence with 0.33; what it gets right
/// begins at about 0.6.
const MIN_CONFIDENCE: f32 = 0.4;

/// A speech recogniser for English.
pub struct Recogniser {
    encoder: Model,
    decoder: Model,
    ports: Ports,
    tokens: Tokens,
    /// One thread: with two it is hardly faster, and the world wants to go on meanwhile.
    pool: Arc<ThreadPool>,
}

/// The decoder's inputs and outputs.
struct Ports {
    token: NodeId,
    features: NodeId,
    is_later: NodeId,
    logits: NodeId,
    /// What the layers remember of the text so far, and of the features.
    own: Vec<Memory>,
    cross: Vec<Memory>,
    heads: usize,
    size: usize,
}

struct Memory {
    past: NodeId,
    present: NodeId,
}

impl std::fmt::Debug for Recogniser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recogniser").field("tokens", &self.tokens.count()).finish_non_exhaustive()
    }
}

fn failed(error: impl std::fmt::Display) -> HearingError {
    HearingError::Run { why: error.to_string() }
}

impl Recogniser {
    /// Loads what `scripts/fetch-puppet hearing` has put into `folder`.
    pub fn load(folder: &Path) -> Result<Self, HearingError> {
        let model = |name: &str| {
            let (path, bytes) = read(folder, name)?;
            Model::load(bytes).map_err(|error| HearingError::Unusable { path, why: error.to_string() })
        };
        let (encoder, decoder) = (model(ENCODER)?, model(DECODER)?);
        let (path, bytes) = read(folder, TOKENS)?;
        let tokens = Tokens::read(&bytes).map_err(|why| HearingError::Unusable { path, why })?;
        let unusable = |why| HearingError::Unusable { path: folder.join(DECODER), why };
        let ports = Ports::of(&decoder).map_err(unusable)?;
        if encoder.input_ids().len() != 1 || encoder.output_ids().len() != 1 {
            let why = "it has more than sound in and features out".to_owned();
            return Err(HearingError::Unusable { path: folder.join(ENCODER), why });
        }
        Ok(Self { encoder, decoder, ports, tokens, pool: Arc::new(ThreadPool::with_num_threads(1)) })
    }

    /// The likeliest sentences in sound at [`RATE`], samples in -1..1; the most confident first, none when nothing is
    /// understood. No two of them have the same words.
    pub fn recognise(&self, samples: &[f32]) -> Result<Vec<Heard>, HearingError> {
        let seconds = samples.len() as f64 / f64::from(RATE);
        if samples.len() > MAX_SECONDS * RATE as usize {
            return Err(HearingError::TooLong { seconds });
        }
        if samples.len() < MIN_SAMPLES {
            return Ok(Vec::new());
        }
        let max_tokens = (seconds * TOKENS_A_SECOND) as usize + 6;
        let mut decoding =
            Decoding { recogniser: self, features: self.features(samples)?, own: Vec::new(), cross: Vec::new() };
        let found = search(&mut decoding, max_tokens)?;
        let options = found.iter().map(|text| Heard {
            confidence: text.confidence() as f32,
            text: shortened(self.tokens.text(&text.tokens)),
        });
        Ok(distinct(options))
    }

    fn options(&self) -> Option<RunOptions> {
        Some(RunOptions::default().with_thread_pool(Some(Arc::clone(&self.pool))))
    }

    fn features(&self, samples: &[f32]) -> Result<Tensor<f32>, HearingError> {
        let sound: Vec<f32> = samples.iter().copied().map(wav::sane).collect();
        let input = Value::from(NdTensor::from_data([1, sound.len()], sound));
        let inputs = vec![(self.encoder.input_ids()[0], ValueOrView::Value(input))];
        let mut outputs = self.encoder.run(inputs, self.encoder.output_ids(), self.options()).map_err(failed)?;
        outputs.pop().ok_or_else(|| failed("no features"))?.try_into().map_err(failed)
    }
}

fn read(folder: &Path, name: &str) -> Result<(PathBuf, Vec<u8>), HearingError> {
    let path = folder.join(name);
    let bytes = std::fs::metadata(&path).and_then(|about| {
        if about.len() > MAX_FILE { Err(std::io::ErrorKind::FileTooLarge.into()) } else { std::fs::read(&path) }
    });
    match bytes {
        Ok(bytes) => Ok((path, bytes)),
        Err(source) => Err(HearingError::Read { path, source }),
    }
}

/// A text that is not longer than it may be, cut between two characters.
fn shortened(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_TEXT));
    text
}

/// The options without those that are not sure enough, have no words, or only the words of a better one.
fn distinct(options: impl Iterator<Item = Heard>) -> Vec<Heard> {
    let (mut kept, mut seen) = (Vec::new(), Vec::new());
    for option in options {
        let words = words::words(&option.text);
        if option.confidence >= MIN_CONFIDENCE && !words.is_empty() && !seen.contains(&words) {
            seen.push(words);
            kept.push(option);
        }
    }
    kept.truncate(MAX_OPTIONS);
    kept
}

impl Ports {
    fn of(decoder: &Model) -> Result<Self, String> {
        let find = |name: &str| decoder.find_node(name).ok_or_else(|| format!("it has no `{name}`"));
        let (mut own, mut cross, mut shape) = (Vec::new(), Vec::new(), None);
        for &past in decoder.input_ids() {
            let about = decoder.node_info(past);
            let Some(name) = about.as_ref().and_then(|info| info.name()) else { continue };
            let Some(layer) = name.strip_prefix("past_key_values.") else { continue };
            let memory = Memory { past, present: find(&format!("present.{layer}"))? };
            if layer.contains("encoder") { &mut cross } else { &mut own }.push(memory);
            shape = shape.or_else(|| about.as_ref().and_then(|info| info.shape()));
        }
        let Some([_, Dimension::Fixed(heads), _, Dimension::Fixed(size)]) = shape.as_deref() else {
            return Err("the shape of its memory is not known".to_owned());
        };
        Ok(Self {
            token: find("input_ids")?,
            features: find("encoder_hidden_states")?,
            is_later: find("use_cache_branch")?,
            logits: find("logits")?,
            own,
            cross,
            heads: *heads,
            size: *size,
        })
    }
}

/// The decoder at work on one utterance.
struct Decoding<'a> {
    recogniser: &'a Recogniser,
    features: Tensor<f32>,
    /// One for each of [`Ports::own`], of as many rows as the last call had.
    own: Vec<Tensor<f32>>,
    /// One for each of [`Ports::cross`], of one row.
    cross: Vec<Tensor<f32>>,
}

impl Scorer for Decoding<'_> {
    fn next(&mut self, rows: &[(usize, u32)]) -> Result<Vec<f32>, HearingError> {
        let ports = &self.recogniser.ports;
        let is_later = !self.cross.is_empty();
        let empty = Tensor::<f32>::zeros(&[1, ports.heads, 0, ports.size]);
        let tokens: Vec<i32> = rows.iter().map(|&(_, token)| token as i32).collect();
        let tokens = NdTensor::from_data([rows.len(), 1], tokens);
        let later = NdTensor::from_data([1], vec![i32::from(is_later)]);
        if is_later {
            self.reorder(rows)?;
        }
        let mut inputs: Vec<(NodeId, ValueOrView)> = vec![
            (ports.token, Value::from(tokens).into()),
            (ports.features, self.features.view().into()),
            (ports.is_later, Value::from(later).into()),
        ];
        for (memories, held) in [(&ports.own, &self.own), (&ports.cross, &self.cross)] {
            let held = |i: usize| held.get(i).unwrap_or(&empty).view();
            inputs.extend(memories.iter().enumerate().map(|(i, memory)| (memory.past, held(i).into())));
        }
        let memories = if is_later { &[] } else { ports.cross.as_slice() };
        let wanted: Vec<NodeId> = std::iter::once(ports.logits)
            .chain(ports.own.iter().chain(memories).map(|memory| memory.present))
            .collect();
        let outputs = self.recogniser.decoder.run(inputs, &wanted, self.recogniser.options()).map_err(failed)?;
        let mut outputs = outputs.into_iter().map(|output| Tensor::<f32>::try_from(output).map_err(failed));
        let logits = outputs.next().ok_or_else(|| failed("no logits"))??;
        self.own = outputs.by_ref().take(ports.own.len()).collect::<Result<_, _>>()?;
        if !is_later {
            self.cross = outputs.collect::<Result<_, _>>()?;
        }
        Ok(logits.to_vec())
    }
}

impl Decoding<'_> {
    /// Brings the rows of what is remembered into their new order.
    fn reorder(&mut self, rows: &[(usize, u32)]) -> Result<(), HearingError> {
        for own in &mut self.own {
            if !rows.iter().map(|&(parent, _)| parent).eq(0..own.shape().first().copied().unwrap_or(0)) {
                *own = reordered(own, rows).ok_or_else(|| failed("its memory has another shape than it should"))?;
            }
        }
        Ok(())
    }
}

fn reordered(memory: &Tensor<f32>, rows: &[(usize, u32)]) -> Option<Tensor<f32>> {
    let (old, shape) = (memory.to_vec(), memory.shape());
    let (count, rest) = shape.split_first()?;
    let row = old.len() / (*count).max(1);
    let mut new = Vec::with_capacity(rows.len() * row);
    for (parent, _) in rows {
        new.extend_from_slice(old.get(parent * row..(parent + 1) * row)?);
    }
    Some(Tensor::from_data(&[&[rows.len()], rest].concat(), new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_with_the_same_words_are_one() {
        let heard = |confidence, text: &str| Heard { confidence, text: text.to_owned() };
        let given = [
            heard(0.9, "Don't stop."),
            heard(0.8, "don\u{2019}t stop!"),
            heard(0.7, ""),
            heard(0.7, " ... "),
            heard(0.6, "Don't stoop."),
            heard(0.1, "Tons top."),
        ];
        assert_eq!(distinct(given.into_iter()), [heard(0.9, "Don't stop."), heard(0.6, "Don't stoop.")]);
        let many = (0..100).map(|i| heard(0.9, &i.to_string()));
        assert_eq!(distinct(many).len(), MAX_OPTIONS);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(shortened("é".repeat(2_000)).len(), 1_022);
        assert_eq!(shortened("a".repeat(2_000)).len(), MAX_TEXT);
        assert_eq!(shortened("short".to_owned()), "short");
    }

    #[test]
    fn rows_go_on_in_their_new_order() {
        let memory = Tensor::from_data(&[3, 1, 2, 1], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let moved = reordered(&memory, &[(2, 9), (0, 9), (0, 9), (1, 9)]).expect("there are three");
        assert_eq!(moved.shape(), &[4, 1, 2, 1]);
        assert_eq!(moved.to_vec(), [5.0, 6.0, 1.0, 2.0, 1.0, 2.0, 3.0, 4.0]);
        assert!(reordered(&memory, &[(3, 9)]).is_none());
    }

    #[test]
    fn a_folder_without_the_files_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = Recogniser::load(folder.path()).expect_err("nothing is there").to_string();
        assert!(missing.contains("encoder_model.onnx") && missing.contains("fetch-puppet hearing"), "{missing}");
        for (name, bytes) in [(ENCODER, b"not a network".as_slice()), (DECODER, b""), (TOKENS, b"{}")] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("a folder is made");
            std::fs::write(path, bytes).expect("a file is written");
        }
        assert!(matches!(Recogniser::load(folder.path()), Err(HearingError::Unusable { .. })));
    }
}
