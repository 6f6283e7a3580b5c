//! `rossum soccer --play`: playback of a log to monitors.

use std::{io::Write, path::Path};

use anyhow::Context;
use server::{
    access::{AllowList, check_bind},
    log_player::LogPlayer,
    protocol::EndpointId,
};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};
use tokio_util::sync::CancellationToken;

use super::{Options, resolve};

pub(super) fn run(options: &Options, log: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    let bind = resolve(&options.host)?;
    let parse = |network: &String| {
        network.parse().with_context(|| format!("--allow {network}: expected a network such as 10.0.0.0/8"))
    };
    let allow: Vec<_> = options.common.allow.iter().map(parse).collect::<anyhow::Result<_>>()?;
    check_bind(bind, &allow)?;
    let port = if options.common.free_ports { 0 } else { options.mport };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let player = LogPlayer::open(log, options.speed.unwrap_or(1.0)).await?;
        let listener = TcpListener::bind((bind, port)).await;
        let listener = listener.with_context(|| format!("failed to listen on {bind}:{port} for monitors"))?;
        greet(options, log, &listener, out)?;
        let stop = CancellationToken::new();
        let stopping = stop.clone();
        tokio::spawn(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            stopping.cancel();
        });
        Ok(player.run(listener, AllowList::new(allow), stop).await?)
    })
}

fn greet(options: &Options, log: &Path, listener: &TcpListener, out: &mut dyn Write) -> anyhow::Result<()> {
    let (title, address) = (format!("Playback of {}", log.display()), listener.local_addr()?);
    if options.common.json {
        let id = EndpointId::SoccerMonitors;
        let addresses =
            serde_json::json!([{ "id": id, "title": "Soccer monitors", "kind": "tcp", "address": address }]);
        return Ok(writeln!(out, "{}", serde_json::json!({ "title": title, "addresses": addresses }))?);
    }
    writeln!(out, "{title}\n\n  Soccer monitors  tcp {address}\n")?;
    Ok(writeln!(
        out,
        "Starts with the first monitor; monitors control it with `(pause)` and `(resume)`. Press ctrl-C to stop."
    )?)
}
