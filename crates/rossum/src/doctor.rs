//! `rossum doctor`: checks this machine's set-up, item by item.

use std::{
    fs,
    io::Write,
    net::{TcpListener, UdpSocket},
    path::PathBuf,
    process::Command,
    thread,
};

use library::ModelKind;
use server::{
    Scenario,
    config::ServerConfig,
    protocol::{EndpointKind, PROTOCOLS},
    serve::build_world,
};

use crate::serve::DEFAULT_SCENARIO;

/// The required version.
const MUJOCO: &str = "3.17.0";

enum Finding {
    Working(String),
    /// Some features are unavailable or limited; everything else works.
    Limited(String),
    /// The program cannot run.
    Broken(String),
}

use Finding::{Broken, Limited, Working};

type Check = fn() -> Finding;

pub(crate) fn run(out: &mut dyn Write) -> anyhow::Result<()> {
    let checks: [(&str, Check); 13] = [
        ("MuJoCo", mujoco),
        ("models", models),
        ("scenarios", scenarios),
        ("protocols", protocols),
        ("ports", ports),
        ("processors", processors),
        ("console", console_pages),
        ("voice", voice),
        ("hearing", hearing),
        ("faces", faces),
        ("sound", sound),
        ("video", video),
        ("set-up", set_up),
    ];
    let mut broken = 0;
    for (item, check) in checks {
        let (mark, text) = match check() {
            Working(text) => ("ok     ", text),
            Limited(text) => ("limited", text),
            Broken(text) => {
                broken += 1;
                ("BROKEN ", text)
            }
        };
        writeln!(out, "{mark}  {item:<10}  {text}")?;
    }
    if broken > 0 {
        anyhow::bail!("{broken} of {} checks failed", checks.len());
    }
    Ok(())
}

fn mujoco() -> Finding {
    let version = physics::mujoco_version();
    let place = library_path().map(|path| format!(" in {}", path.display())).unwrap_or_default();
    if version == MUJOCO {
        Working(format!("version {version}{place}"))
    } else {
        Broken(format!("version {version}{place}; version {MUJOCO} is required, rebuild with `make build`"))
    }
}

/// Path of the loaded library, if known.
fn library_path() -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.contains("libmujoco"))?;
    line.split_whitespace().nth(5).map(PathBuf::from)
}

fn models() -> Finding {
    let (robots, fields) = (library::models(ModelKind::Robot), library::models(ModelKind::Field));
    Working(format!("robots {}; fields {}", robots.join(", "), fields.join(", ")))
}

fn scenarios() -> Finding {
    let names = library::scenarios();
    for name in &names {
        if let Err(error) = Scenario::load(name).and_then(|scenario| scenario.setup()) {
            return Broken(format!("{name}: {error}"));
        }
    }
    Working(names.join(", "))
}

fn protocols() -> Finding {
    let names: Vec<_> = PROTOCOLS.iter().map(|protocol| format!("{} ({})", protocol.name, protocol.title)).collect();
    Working(names.join(", "))
}

fn console_pages() -> Finding {
    if !console::is_built() {
        return Limited("built without the console; install Node.js 20 and rebuild".to_owned());
    }
    let kilobytes = console::PAGES.iter().map(|page| page.bytes.len()).sum::<usize>() / 1000;
    let tokens = server::user_data::tokens_path(&server::user_data::folder());
    Working(format!("{} files, {kilobytes} kB; tokens in {}", console::PAGES.len(), tokens.display()))
}

/// The ports of the default scenario.
fn ports() -> Finding {
    match taken_ports() {
        Ok(taken) if taken.is_empty() => Working(format!("all ports of the {DEFAULT_SCENARIO} scenario are free")),
        Ok(taken) => {
            let taken: Vec<_> = taken.iter().map(u16::to_string).collect();
            Limited(format!(
                "in use: {}; another server may be running, `rossum serve --free-ports` uses others",
                taken.join(", ")
            ))
        }
        Err(error) => Broken(format!("{error:#}")),
    }
}

fn taken_ports() -> anyhow::Result<Vec<u16>> {
    let scenario = Scenario::load(DEFAULT_SCENARIO)?;
    let (_, world) = build_world(&scenario)?;
    let ServerConfig { bind, http_port, .. } = scenario.base.server;
    let is_free = |port: u16, kind: &EndpointKind| match kind {
        EndpointKind::Datagram(_) | EndpointKind::Conversation(_) => UdpSocket::bind((bind, port)).is_ok(),
        EndpointKind::Stream(_) => TcpListener::bind((bind, port)).is_ok(),
    };
    let mut taken = Vec::new();
    for (_, service) in &scenario.services {
        for endpoint in service.endpoints(world.catalogue(), scenario.base.world.pace).map_err(anyhow::Error::msg)? {
            if !is_free(endpoint.port, &endpoint.kind) {
                taken.push(endpoint.port);
            }
        }
    }
    if TcpListener::bind((bind, http_port)).is_err() {
        taken.push(http_port);
    }
    Ok(taken)
}

fn processors() -> Finding {
    match thread::available_parallelism() {
        Ok(count) if count.get() >= 2 => Working(format!("{count}")),
        Ok(_) => Limited("1, shared by world and clients: full games run slower than real time".to_owned()),
        Err(error) => Limited(format!("unknown: {error}")),
    }
}

/// The speech synthesiser of the Oz robot.
fn voice() -> Finding {
    match puppet::speech::find_espeak() {
        Some((library, _)) => Working(format!("espeak-ng in {}", library.display())),
        None => Limited(
            "espeak-ng not found, speech is silent; run scripts/fetch-puppet voice, or install libespeak-ng1"
                .to_owned(),
        ),
    }
}

fn hearing() -> Finding {
    match puppet::hearing::Recogniser::load(&puppet::fetched_folder("hearing").unwrap_or_default()) {
        Ok(_) => Working("Moonshine speech recogniser".to_owned()),
        Err(error) => Limited(format!("no speech recognition: {error}")),
    }
}

fn faces() -> Finding {
    match puppet::faces::Watcher::load(
        &puppet::fetched_folder("faces").unwrap_or_default(),
        puppet::faces::Names::new(),
    ) {
        Ok(_) => Working("BlazeFace detector with face recognition".to_owned()),
        Err(error) => Limited(format!("no face detection: {error}")),
    }
}

fn sound() -> Finding {
    let player = puppet::speech::sink::PlayerSink::find().map_err(|error| format!("no sound output: {error}"));
    let recorder = puppet::hearing::recorder().map_err(|error| format!("no sound input: {error}"));
    match (player, recorder) {
        (Ok(_), Ok(recorder)) => Working(format!("player and recorder found ({recorder})")),
        (Err(why), Ok(_)) | (Ok(_), Err(why)) => Limited(why),
        (Err(unheard), Err(deaf)) => Limited(format!("{unheard}; {deaf}")),
    }
}

fn video() -> Finding {
    match Command::new("ffmpeg").arg("-version").output() {
        Ok(output) if output.status.success() => Working("ffmpeg found, for video files and cameras".to_owned()),
        _ => Limited(
            "ffmpeg not found; video files and cameras are unavailable, rendered scenes and pictures work".to_owned(),
        ),
    }
}

/// Build dependencies, not needed at run time.
fn set_up() -> Finding {
    let works = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
    };
    let needs: [(&str, &str, &[&str]); 3] = [
        ("Rust (cargo)", "cargo", &["--version"]),
        ("Python 3 with pip", "python3", &["-m", "pip", "--version"]),
        ("Node with npm", "npm", &["--version"]),
    ];
    let missing: Vec<_> =
        needs.iter().filter(|(_, program, args)| !works(program, args)).map(|(name, ..)| *name).collect();
    if missing.is_empty() {
        Working("Rust, Python 3 with pip, Node with npm".to_owned())
    } else {
        Limited(format!("missing: {}; needed for building only", missing.join(", ")))
    }
}
