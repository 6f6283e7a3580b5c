//! Writes seed corpora: for decoders a file per vector and per datagram of the transcripts, for sessions a file per
//! transcript.
//!
//! `cargo run --example seeds` creates `corpus/`, which is not committed.

use evolve::genotype::{Genes, NetParameters};
use evolve::run::{EvaluationSite, Run, RunConfig};
use evolve::search::{Algorithm, Evaluation, Settings};
use serde_json::Value;
use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let odcp = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocols/odcp");
    let (mut datagrams, mut conversations) = (Vec::new(), Vec::new());
    collect_hex(&read_json(&odcp.join("vectors.json"))?, &mut datagrams);
    for transcript in fs::read_dir(odcp.join("transcripts"))? {
        let transcript = read_json(&transcript?.path())?;
        collect_hex(&transcript, &mut datagrams);
        conversations.push(conversation(&transcript)?);
    }
    let datagrams = datagrams.iter().map(|hex| bytes_from_hex(hex)).collect::<Result<_, _>>()?;
    write_corpus("odcp_decode", datagrams)?;
    write_corpus("odcp_session", conversations)?;

    let osp = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocols/osp");
    let mut datagrams = Vec::new();
    collect_hex(&read_json(&osp.join("vectors.json"))?, &mut datagrams);
    let datagrams = datagrams.iter().map(|hex| bytes_from_hex(hex)).collect::<Result<Vec<_>, _>>()?;
    let (mut talk, mut played) = (Vec::new(), Vec::new());
    for (index, datagram) in datagrams.iter().filter(|datagram| datagram.len() < 256).enumerate() {
        // by two clients in turn
        let (client, length) = (index as u8 % 2, datagram.len() as u8);
        talk.extend([OSP_DATAGRAM + 8 * client, length]);
        played.extend([client, 10, length]);
        talk.extend(datagram);
        played.extend(datagram);
    }
    write_corpus("osp_decode", datagrams)?;
    write_corpus("osp_session", vec![talk])?;
    write_corpus("osp_world", vec![played])?;

    write_lines()?;

    let oz = read_json(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocols/oz/vectors.json"))?;
    let (mut messages, mut requests) = (Vec::new(), Vec::new());
    collect_hex(&oz, &mut messages);
    collect_hex(&oz["requests"], &mut requests);
    let of = |hexes: &[String]| hexes.iter().map(|hex| bytes_from_hex(hex)).collect::<Result<Vec<_>, _>>();
    let mut play = oz_piece(0, OZ_VERSION)?;
    for request in of(&requests)? {
        for piece in request.chunks(usize::from(u8::MAX)) {
            play.extend(oz_piece(0, piece)?);
        }
        play.extend(oz_piece(OZ_WORLD, &[])?);
    }
    write_corpus("oz_decode", of(&messages)?)?;
    write_corpus("oz_session", vec![play])?;

    for command in CONSOLE {
        wire::console::Request::decode(command).map_err(|error| format!("{command}: {error:?}"))?;
    }
    // by a viewer, by an operator, and each command alone
    let talks = [0, 1].map(|who| [&[who], CONSOLE.join("\n\n").as_bytes()].concat());
    let alone = CONSOLE.iter().map(|command| [&[1], command.as_bytes(), b"\n\n\n"].concat());
    write_corpus("console_session", talks.into_iter().chain(alone).collect())?;
    write_files()
}

/// Seeds of the decoders of text: a file per vector, and for evo also all lines of one direction as a stream.
fn write_lines() -> Result<(), Box<dyn Error>> {
    let protocols = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocols");
    let soccer = read_json(&protocols.join("soccer/vectors.json"))?;
    for (target, sections) in
        [("soccer_agent", ["agent", "perceptions"]), ("soccer_monitor", ["monitor_requests", "monitor_updates"])]
    {
        write_corpus(target, sections.into_iter().flat_map(|section| texts(&soccer[section], "text")).collect())?;
    }
    let evo = read_json(&protocols.join("evo/vectors.json"))?;
    let mut lines = Vec::new();
    for direction in ["to_robot", "from_robot", "to_world", "from_world"] {
        let of_direction = texts(&evo[direction], "line");
        lines.push(of_direction.join(&b"\r\n"[..]));
        lines.extend(of_direction);
    }
    write_corpus("evo_decode", lines)
}

/// The texts of a list of vectors.
fn texts(vectors: &Value, key: &str) -> Vec<Vec<u8>> {
    let vectors = vectors.as_array().into_iter().flatten();
    vectors.filter_map(|vector| vector[key].as_str()).map(|text| text.as_bytes().to_vec()).collect()
}

/// Seeds of the targets that read files: our own models and scenarios, and small ones of the others.
fn write_files() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut models = Vec::new();
    for kind in ["robots", "fields"] {
        for folder in fs::read_dir(root.join("models").join(kind))? {
            let files = fs::read_dir(folder?.path())?.collect::<Result<Vec<_>, _>>()?;
            let is_model = |path: &std::path::PathBuf| path.extension().is_some_and(|kind| kind == "xml");
            for path in files.iter().map(|file| file.path()).filter(is_model) {
                models.push(fs::read(path)?);
            }
        }
    }
    models.extend(MODELS.map(|model| model.as_bytes().to_vec()));
    write_corpus("model", models)?;
    let scenarios = fs::read_dir(root.join("scenarios"))?.collect::<Result<Vec<_>, _>>()?;
    let scenarios = scenarios.iter().map(|file| fs::read(file.path())).collect::<Result<Vec<_>, _>>()?;
    write_corpus("scenario", scenarios)?;
    let ticks = r#"{"tick":0,"entries":[{"Leave":{"agent":1}},{"Reset":{"seed":7}}]}
{"tick":9,"hash":12}"#;
    // a file, the content of a chunk, and messages
    let file = [&[0][..], b"\x89MCAP0\r\n", &[1, 8], &[0; 15]].concat();
    let chunk = [&[1, 5, 30], &[0; 37][..]].concat();
    let messages = [&[2], SETUP.as_bytes(), b"\n", ticks.as_bytes()].concat();
    write_corpus("recording", vec![file, chunk, messages])?;
    write_corpus("evolve_run", Algorithm::ALL.into_iter().map(run_folder).collect::<Result<_, _>>()?)
}

/// The files of a run after a generation, in the format of `evolve_run`.
fn run_folder(algorithm: Algorithm) -> Result<Vec<u8>, Box<dyn Error>> {
    let unit = Genes { values: 1, low: -1.0, high: 1.0 };
    let parameters = NetParameters {
        concurrent: 1,
        globals: Genes::default(),
        inputs: 1,
        input: Genes::default(),
        outputs: 1,
        output: unit,
        hidden_min: 0,
        hidden_max: 1,
        hidden: unit,
        weight: unit,
        input_to_output: true,
        recurrent: false,
    };
    let settings = Settings { population: Some(4), ..Settings::default() };
    let site = EvaluationSite::Simulators(vec!["127.0.0.1:7720".to_owned()]);
    let config = RunConfig { algorithm, settings, seed: 1, parameters, generations: Some(2), target: None, site };
    let folder = std::env::temp_dir().join(format!("rossum-seeds-{}-{algorithm}", std::process::id()));
    let mut run = Run::begin(&folder, config)?;
    let evaluation = || Evaluation { fitness: 1.0, behaviour: vec![0.5; 2], figures: Vec::new() };
    let evaluations: Vec<_> = run.ask().iter().map(|_| evaluation()).collect();
    run.tell(&evaluations)?;
    drop(run);
    let mut seed = Vec::new();
    for name in ["run.json", "checkpoint.json", "best.json", "bests.jsonl"] {
        seed.extend([&b"="[..], name.as_bytes(), b"\n", &fs::read(folder.join(name))?, b"\n"].concat());
    }
    fs::remove_dir_all(folder)?;
    Ok(seed)
}

/// Models that the scan or the engine once took too long for, or that are close to it.
const MODELS: [&str; 4] = [
    "<mujoco><worldbody><replicate count='9'><geom size='.1'/></replicate></worldbody></mujoco>",
    "<mujoco xmlns:a='b'><asset><mesh name='m' builtin='sphere' params='2'/></asset></mujoco>",
    "<mujoco><size memory='1M' nkey='2'/><keyframe><key/></keyframe></mujoco>",
    "<robot name='r'><link name='l'><visual><geometry><box size='1 1 1'/></geometry></visual></link></robot>",
];

/// The setup of a recording.
const SETUP: &str = r#"{"format":2,"mujoco":"0","model_hash":1,"base":{"Text":{"name":"m","text":"<mujoco/>"}},"robots":[],"timestep":null,"steps_per_tick":1,"seed":1,"settings":[],"randomise":[],"watches":[]}"#;

/// Commands of a browser.
const CONSOLE: [&str; 40] = [
    r#"{"do":"watch","topics":["world","soccer","puppet","evolution","health","poses","video","sound"],"id":1}"#,
    r#"{"do":"follow","agent":"Alice","id":2}"#,
    r#"{"do":"observe","variables":["/Simulation/Gravitation","/Sim/Rover1/Position"],"id":3}"#,
    r#"{"do":"pause"}"#,
    r#"{"do":"play"}"#,
    r#"{"do":"step","id":4}"#,
    r#"{"do":"reset","seed":7,"id":5}"#,
    r#"{"do":"speed","factor":2.5}"#,
    r#"{"do":"act","agent":"Rover1","motors":[[0,1.5],[1,-2]]}"#,
    r#"{"do":"push","agent":"Alice","velocity":[1,0,0]}"#,
    r#"{"do":"list","path":"/Sim","id":6}"#,
    r#"{"do":"search","text":"Position","id":7}"#,
    r#"{"do":"read","variable":"/Simulation/Gravitation","id":8}"#,
    r#"{"do":"write","variable":"/Simulation/Gravitation","value":"9.81","id":9}"#,
    r#"{"do":"write","variable":"/Sim/Rover1/Position","value":"(1,2,0.1)","id":10}"#,
    r#"{"do":"kick-off","side":"left"}"#,
    r#"{"do":"kick-off","side":null}"#,
    r#"{"do":"drop-ball"}"#,
    r#"{"do":"place-ball","position":[1,2,0.1],"velocity":[0,0,3]}"#,
    r#"{"do":"place-player","side":"right","number":3,"position":[1,2],"heading":1.5}"#,
    r#"{"do":"play-mode","mode":"PlayOn"}"#,
    r#"{"do":"demo","players":3,"id":11}"#,
    r#"{"do":"stop-demo"}"#,
    r#"{"do":"puppet","order":"reset"}"#,
    r#"{"do":"puppet","order":{"speak":"Hello, [yess] you."},"id":12}"#,
    r#"{"do":"puppet","order":{"weigh":["speech",0.5]}}"#,
    r#"{"do":"puppet","order":{"servo":[3,0.25]}}"#,
    r#"{"do":"puppet","order":{"servos":[0.1,0.2]}}"#,
    r#"{"do":"name-face","face":1,"name":"Eileen","id":13}"#,
    r#"{"do":"forget-face","name":"Eileen","id":14}"#,
    r#"{"do":"start-run","run":{"simulators":[],"world":"obstacles","body":"khepera","algorithm":"cma-es","generations":5,"seed":1},"id":15}"#,
    r#"{"do":"stop-run","name":"one"}"#,
    r#"{"do":"resume-run","name":"one","generations":9}"#,
    r#"{"do":"run","name":"one"}"#,
    r#"{"do":"replay","run":"one","generation":2,"id":16}"#,
    r#"{"do":"films","id":17}"#,
    r#"{"do":"open-film","name":"game.mcap","id":18}"#,
    r#"{"do":"frames","from":0,"count":10}"#,
    r#"{"do":"close-film"}"#,
    r#"{"do":"save","key":"hotkeys","value":{"a":[1,2]},"id":19}"#,
];

/// The first message of `oz_session`.
const OZ_VERSION: &[u8] = &[0, 0, 0, 1, 1, 0, 0, 0];

/// Marks the passing of time in `oz_session`.
const OZ_WORLD: u8 = 2;

/// A fragment of a stream in the format of `oz_session`: peer, length, bytes.
fn oz_piece(peer: u8, bytes: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    Ok([&[peer, u8::try_from(bytes.len())?], bytes].concat())
}

/// Marks a datagram in `osp_session`.
const OSP_DATAGRAM: u8 = 7;

fn write_corpus(target: &str, mut seeds: Vec<Vec<u8>>) -> Result<(), Box<dyn Error>> {
    seeds.sort();
    seeds.dedup();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    fs::create_dir_all(&corpus)?;
    for (number, seed) in seeds.iter().enumerate() {
        fs::write(corpus.join(format!("seed-{number:03}")), seed)?;
    }
    println!("{} seeds in {}", seeds.len(), corpus.display());
    Ok(())
}

/// The datagrams of a transcript in the format of `odcp_session`: peer, length, bytes.
fn conversation(transcript: &Value) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut bytes = Vec::new();
    for step in transcript["steps"].as_array().ok_or("a transcript without steps")? {
        if let Some(hex) = step["send"].as_str() {
            let datagram = bytes_from_hex(hex)?;
            bytes.push(u8::from(step["from"] == "b"));
            bytes.push(u8::try_from(datagram.len())?);
            bytes.extend(datagram);
        }
    }
    Ok(bytes)
}

fn read_json(path: &Path) -> Result<Value, Box<dyn Error>> {
    Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
}

/// Every datagram in the file, wherever it stands.
fn collect_hex(value: &Value, seeds: &mut Vec<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect_hex(value, seeds)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match (key.as_str(), value) {
                    ("hex" | "canonical" | "send" | "expect", Value::String(hex)) => seeds.push(hex.clone()),
                    _ => collect_hex(value, seeds),
                }
            }
        }
        _ => {}
    }
}

fn bytes_from_hex(hex: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let digits = |at| Ok(u8::from_str_radix(hex.get(at..at + 2).ok_or("odd number of hex digits")?, 16)?);
    (0..hex.len()).step_by(2).map(digits).collect()
}
