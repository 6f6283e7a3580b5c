//! The speech recogniser: Moonshine, an encoder from audio to features and a decoder from features to tokens.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rten::{Dimension, Model, NodeId, RunOptions, ThreadPool, Value, ValueOrView};
use rten_tensor::{NdTensor, Tensor, prelude::*};

use super::search::{Scorer, search};
use super::tokens::Tokens;
use super::{HearingError, Hypothesis, MAX_OPTIONS, MAX_SECONDS, MAX_TEXT, RATE, wav, words};

/// Paths below the folder that `scripts/fetch-puppet hearing` downloads into.
const ENCODER: &str = "package/dist/model/tiny/quantized/encoder_model.onnx";
const DECODER: &str = "package/dist/model/tiny/quantized/decoder_model_merged.onnx";
const TOKENS: &str = "moonshine_onnx/assets/tokenizer.json";

/// Maximum size of a model file, in bytes.
const MAX_FILE: u64 = 256 << 20;

/// Minimum length of an utterance, in samples; the encoder has no output for less.
const MIN_SAMPLES: usize = RATE as usize / 10;

/// Maximum token rate; speech is slower, and a loop of the decoder is not.
const TOKENS_PER_SECOND: f64 = 8.0;

/// Minimum confidence. Silence is recognised as "You" with 0.33; correct results start at about 0.6.
const MIN_CONFIDENCE: f32 = 0.4;

/// A speech recogniser for English.
pub struct Recogniser {
    encoder: Model,
    decoder: Model,
    nodes: DecoderNodes,
    tokens: Tokens,
    /// A single thread: two are hardly faster, and would compete with the simulation.
    pool: Arc<ThreadPool>,
}

/// Input and output nodes of the decoder.
struct DecoderNodes {
    token: NodeId,
    features: NodeId,
    use_cache: NodeId,
    logits: NodeId,
    /// Key-value caches of self-attention (over the text so far) and of cross-attention (over the features).
    self_attention: Vec<CacheNodes>,
    cross_attention: Vec<CacheNodes>,
    heads: usize,
    size: usize,
}

struct CacheNodes {
    past: NodeId,
    present: NodeId,
}

impl std::fmt::Debug for Recogniser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recogniser").field("tokens", &self.tokens.count()).finish_non_exhaustive()
    }
}

fn failed(error: impl std::fmt::Display) -> HearingError {
    HearingError::Run { reason: error.to_string() }
}

impl Recogniser {
    /// Loads the models that `scripts/fetch-puppet hearing` has downloaded into `folder`.
    pub fn load(folder: &Path) -> Result<Self, HearingError> {
        let model = |name: &str| {
            let (path, bytes) = read(folder, name)?;
            Model::load(bytes).map_err(|error| HearingError::Invalid { path, reason: error.to_string() })
        };
        let (encoder, decoder) = (model(ENCODER)?, model(DECODER)?);
        let (path, bytes) = read(folder, TOKENS)?;
        let tokens = Tokens::read(&bytes).map_err(|reason| HearingError::Invalid { path, reason })?;
        let unusable = |reason| HearingError::Invalid { path: folder.join(DECODER), reason };
        let nodes = DecoderNodes::of(&decoder).map_err(unusable)?;
        if encoder.input_ids().len() != 1 || encoder.output_ids().len() != 1 {
            let reason = "the encoder must have one input and one output".to_owned();
            return Err(HearingError::Invalid { path: folder.join(ENCODER), reason });
        }
        Ok(Self { encoder, decoder, nodes, tokens, pool: Arc::new(ThreadPool::with_num_threads(1)) })
    }

    /// Recognises an utterance (samples in -1..1 at [`RATE`]). Returns hypotheses with distinct words, sorted by descending
    /// confidence; empty if nothing was understood.
    pub fn recognise(&self, samples: &[f32]) -> Result<Vec<Hypothesis>, HearingError> {
        let seconds = samples.len() as f64 / f64::from(RATE);
        if samples.len() > MAX_SECONDS * RATE as usize {
            return Err(HearingError::TooLong { seconds });
        }
        if samples.len() < MIN_SAMPLES {
            return Ok(Vec::new());
        }
        let max_tokens = (seconds * TOKENS_PER_SECOND) as usize + 6;
        let mut decoding = Decoding {
            recogniser: self,
            features: self.features(samples)?,
            self_attention: Vec::new(),
            cross_attention: Vec::new(),
        };
        let sequences = search(&mut decoding, max_tokens)?;
        let options = sequences.iter().map(|text| Hypothesis {
            confidence: text.confidence() as f32,
            text: shortened(self.tokens.text(&text.tokens)),
        });
        Ok(distinct(options))
    }

    fn options(&self) -> Option<RunOptions> {
        Some(RunOptions::default().with_thread_pool(Some(Arc::clone(&self.pool))))
    }

    fn features(&self, samples: &[f32]) -> Result<Tensor<f32>, HearingError> {
        let sound: Vec<f32> = samples.iter().copied().map(wav::sanitised).collect();
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

/// Truncates a text to [`MAX_TEXT`] bytes, between two characters.
fn shortened(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_TEXT));
    text
}

/// Removes hypotheses with low confidence, without words, or with the same words as a better one.
fn distinct(options: impl Iterator<Item = Hypothesis>) -> Vec<Hypothesis> {
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

impl DecoderNodes {
    fn of(decoder: &Model) -> Result<Self, String> {
        let find = |name: &str| decoder.find_node(name).ok_or_else(|| format!("no node `{name}`"));
        let (mut self_attention, mut cross_attention, mut shape) = (Vec::new(), Vec::new(), None);
        for &past in decoder.input_ids() {
            let about = decoder.node_info(past);
            let Some(name) = about.as_ref().and_then(|info| info.name()) else { continue };
            let Some(layer) = name.strip_prefix("past_key_values.") else { continue };
            let cache = CacheNodes { past, present: find(&format!("present.{layer}"))? };
            if layer.contains("encoder") { &mut cross_attention } else { &mut self_attention }.push(cache);
            shape = shape.or_else(|| about.as_ref().and_then(|info| info.shape()));
        }
        let Some([_, Dimension::Fixed(heads), _, Dimension::Fixed(size)]) = shape.as_deref() else {
            return Err("unknown shape of the decoder's cache".to_owned());
        };
        Ok(Self {
            token: find("input_ids")?,
            features: find("encoder_hidden_states")?,
            use_cache: find("use_cache_branch")?,
            logits: find("logits")?,
            self_attention,
            cross_attention,
            heads: *heads,
            size: *size,
        })
    }
}

/// State of the decoder for one utterance.
struct Decoding<'a> {
    recogniser: &'a Recogniser,
    features: Tensor<f32>,
    /// Cache of each of [`DecoderNodes::self_attention`], with as many rows as the last call.
    self_attention: Vec<Tensor<f32>>,
    /// Cache of each of [`DecoderNodes::cross_attention`], with one row.
    cross_attention: Vec<Tensor<f32>>,
}

impl Scorer for Decoding<'_> {
    fn next(&mut self, rows: &[(usize, u32)]) -> Result<Vec<f32>, HearingError> {
        let nodes = &self.recogniser.nodes;
        let has_cache = !self.cross_attention.is_empty();
        let empty = Tensor::<f32>::zeros(&[1, nodes.heads, 0, nodes.size]);
        let tokens: Vec<i32> = rows.iter().map(|&(_, token)| token as i32).collect();
        let tokens = NdTensor::from_data([rows.len(), 1], tokens);
        let later = NdTensor::from_data([1], vec![i32::from(has_cache)]);
        if has_cache {
            self.reorder(rows)?;
        }
        let mut inputs: Vec<(NodeId, ValueOrView)> = vec![
            (nodes.token, Value::from(tokens).into()),
            (nodes.features, self.features.view().into()),
            (nodes.use_cache, Value::from(later).into()),
        ];
        for (caches, held) in
            [(&nodes.self_attention, &self.self_attention), (&nodes.cross_attention, &self.cross_attention)]
        {
            let held = |i: usize| held.get(i).unwrap_or(&empty).view();
            inputs.extend(caches.iter().enumerate().map(|(i, cache)| (cache.past, held(i).into())));
        }
        let caches = if has_cache { &[] } else { nodes.cross_attention.as_slice() };
        let wanted: Vec<NodeId> = std::iter::once(nodes.logits)
            .chain(nodes.self_attention.iter().chain(caches).map(|cache| cache.present))
            .collect();
        let outputs = self.recogniser.decoder.run(inputs, &wanted, self.recogniser.options()).map_err(failed)?;
        let mut outputs = outputs.into_iter().map(|output| Tensor::<f32>::try_from(output).map_err(failed));
        let logits = outputs.next().ok_or_else(|| failed("no logits"))??;
        self.self_attention = outputs.by_ref().take(nodes.self_attention.len()).collect::<Result<_, _>>()?;
        if !has_cache {
            self.cross_attention = outputs.collect::<Result<_, _>>()?;
        }
        Ok(logits.to_vec())
    }
}

impl Decoding<'_> {
    /// Reorders the rows of the self-attention caches.
    fn reorder(&mut self, rows: &[(usize, u32)]) -> Result<(), HearingError> {
        for self_attention in &mut self.self_attention {
            if !rows.iter().map(|&(parent, _)| parent).eq(0..self_attention.shape().first().copied().unwrap_or(0)) {
                *self_attention =
                    reordered(self_attention, rows).ok_or_else(|| failed("unexpected shape of the decoder's cache"))?;
            }
        }
        Ok(())
    }
}

fn reordered(cache: &Tensor<f32>, rows: &[(usize, u32)]) -> Option<Tensor<f32>> {
    let (old, shape) = (cache.to_vec(), cache.shape());
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
    fn hypotheses_with_the_same_words_are_merged() {
        let heard = |confidence, text: &str| Hypothesis { confidence, text: text.to_owned() };
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
    fn long_texts_are_truncated_between_characters() {
        assert_eq!(shortened("é".repeat(2_000)).len(), 1_022);
        assert_eq!(shortened("a".repeat(2_000)).len(), MAX_TEXT);
        assert_eq!(shortened("short".to_owned()), "short");
    }

    #[test]
    fn cache_rows_are_reordered() {
        let cache = Tensor::from_data(&[3, 1, 2, 1], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let moved = reordered(&cache, &[(2, 9), (0, 9), (0, 9), (1, 9)]).expect("there are three");
        assert_eq!(moved.shape(), &[4, 1, 2, 1]);
        assert_eq!(moved.to_vec(), [5.0, 6.0, 1.0, 2.0, 1.0, 2.0, 3.0, 4.0]);
        assert!(reordered(&cache, &[(3, 9)]).is_none());
    }

    #[test]
    fn missing_and_invalid_files_are_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = Recogniser::load(folder.path()).expect_err("nothing is there").to_string();
        assert!(missing.contains("encoder_model.onnx") && missing.contains("fetch-puppet hearing"), "{missing}");
        for (name, bytes) in [(ENCODER, b"not a network".as_slice()), (DECODER, b""), (TOKENS, b"{}")] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("a folder is made");
            std::fs::write(path, bytes).expect("a file is written");
        }
        assert!(matches!(Recogniser::load(folder.path()), Err(HearingError::Invalid { .. })));
    }
}
