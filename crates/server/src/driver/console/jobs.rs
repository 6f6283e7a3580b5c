//! Runs the jobs of console sessions.

use std::{net::SocketAddr, sync::Arc};

use session::{
    console::{Job, JobResult},
    oz::{Naming, NamingReply, OperatorPanel},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, oneshot},
    time::timeout,
};
use wire::console::Message;

use super::PROTOCOL;
use crate::{
    jobs::{Demo, Playbacks, Runs},
    limits,
    sim_thread::SimHandle,
    user_data::SavedItems,
};

const FAILED: &str = "internal error; see the server's log";

/// Runs jobs, and limits their number.
#[derive(Debug)]
pub(crate) struct Jobs {
    sim: SimHandle,
    /// Where soccer agents connect, if the scenario has soccer.
    soccer_agents: Option<SocketAddr>,
    panel: Option<Arc<OperatorPanel>>,
    /// Whether the scenario has evolution.
    evolves: bool,
    runs: Runs,
    demo: Demo,
    playbacks: Playbacks,
    saved: SavedItems,
    /// Limits the jobs of all sessions together.
    permits: Arc<Semaphore>,
}

/// The parts of the server that [`Jobs`] work on.
#[derive(Debug)]
pub(crate) struct JobContext {
    pub(crate) sim: SimHandle,
    pub(crate) soccer_agents: Option<SocketAddr>,
    pub(crate) panel: Option<Arc<OperatorPanel>>,
    pub(crate) evolves: bool,
    pub(crate) runs: Runs,
    pub(crate) demo: Demo,
    pub(crate) playbacks: Playbacks,
    pub(crate) saved: SavedItems,
}

impl Jobs {
    pub(crate) fn new(context: JobContext) -> Self {
        let JobContext { sim, soccer_agents, panel, evolves, runs, demo, playbacks, saved } = context;
        let permits = Arc::new(Semaphore::new(limits::CONSOLE_JOBS_TOGETHER));
        Self { sim, soccer_agents, panel, evolves, runs, demo, playbacks, saved, permits }
    }

    /// Permission to run one more job, unless too many are running.
    pub(super) fn try_acquire(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).try_acquire_owned().ok()
    }

    /// Runs a job. The error is human-readable.
    pub(super) async fn run(self: Arc<Self>, job: Job, permit: OwnedSemaphorePermit) -> Result<JobResult, String> {
        match job {
            Job::NameFace(naming) => self.name_face(naming).await,
            job => {
                let work = tokio::task::spawn_blocking(move || {
                    let result = self.run_blocking(job);
                    // only now: the job goes on if its client leaves
                    drop(permit);
                    result
                });
                work.await.unwrap_or_else(|error| {
                    tracing::error!(protocol = PROTOCOL, "job failed: {error}");
                    Err(FAILED.to_owned())
                })
            }
        }
    }

    async fn name_face(&self, naming: Naming) -> Result<JobResult, String> {
        let panel = self.panel.as_ref().ok_or("this world has no puppet")?;
        let (reply, replied) = oneshot::channel();
        panel.request_naming(naming, Box::new(Reply(reply)));
        match timeout(limits::CONSOLE_NAMING_TIMEOUT, replied).await {
            Ok(Ok(done)) => done.map(|()| JobResult::default()),
            _ => Err("face recognition is not running; see the page Health".to_owned()),
        }
    }

    fn run_blocking(&self, job: Job) -> Result<JobResult, String> {
        let runs = &self.runs;
        let check_evolves = || self.evolves.then_some(()).ok_or("this scenario has no evolution");
        Ok(match job {
            Job::StartDemo(players) => {
                let agents = self.soccer_agents.ok_or("this scenario has no soccer")?;
                self.demo.start(agents, &self.sim, players)?;
                JobResult::default()
            }
            Job::StopDemo => {
                self.demo.stop();
                JobResult::default()
            }
            Job::ListRuns => Message::Evolution { runs: runs.list() }.into(),
            Job::StartRun(run) => {
                check_evolves()?;
                runs.start(&run)?;
                Message::Evolution { runs: runs.list() }.into()
            }
            Job::StopRun(name) => {
                runs.stop(&name)?;
                JobResult::default()
            }
            Job::ResumeRun(name, generations) => {
                check_evolves()?;
                runs.resume(&name, generations)?;
                JobResult::default()
            }
            Job::ReadRun(name) => Message::Run(runs.detail(&name)?).into(),
            Job::ReplayTrial(name, generation) => Message::Replay(runs.replay(&name, generation)?).into(),
            Job::ListPlaybacks => {
                let (folder, films) = self.playbacks.list();
                Message::Playbacks { folder, films }.into()
            }
            Job::OpenPlayback(name) => JobResult { messages: Vec::new(), playback: Some(self.playbacks.open(&name)?) },
            Job::Save(key, value) => {
                self.saved.save(&key, value).map_err(|error| error.to_string())?;
                JobResult::default()
            }
            // runs without blocking
            Job::NameFace(_) => JobResult::default(),
        })
    }
}

struct Reply(oneshot::Sender<Result<(), String>>);

impl NamingReply for Reply {
    fn is_awaited(&self) -> bool {
        !self.0.is_closed()
    }

    fn deliver(self: Box<Self>, result: Result<(), String>) {
        // the client may have given up
        let _ = self.0.send(result);
    }
}
