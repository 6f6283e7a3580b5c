//! Runs the jobs of console sessions.

use std::{net::SocketAddr, sync::Arc};

use parking_lot::Mutex;
use session::{
    console::{Job, JobError, JobResult},
    oz::{Naming, NamingReply, OperatorPanel},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, oneshot},
    time::timeout,
};
use wire::console::{Message, Role};

use super::PROTOCOL;
use crate::{
    jobs::{Demo, Playbacks, Runs},
    limits,
    protocol::evo::Simulators,
    sim_thread::SimHandle,
    user_data::SavedItems,
};

const FAILED: &str = "internal error; see the server's log";

/// Room for the jobs of one role.
#[derive(Debug)]
struct Pool {
    permits: Arc<Semaphore>,
    /// Held during a replay of a trial, which keeps a core busy.
    replay: Mutex<()>,
}

impl Pool {
    fn new() -> Self {
        Self { permits: Arc::new(Semaphore::new(limits::CONSOLE_JOBS_PER_ROLE)), replay: Mutex::default() }
    }
}

/// Permission to run one job of a role.
#[derive(Debug)]
pub(super) struct JobPermit {
    role: Role,
    _permit: OwnedSemaphorePermit,
}

/// Runs jobs, and limits their number. Operators and viewers have a pool each: however many viewers there are and
/// whatever they ask for, operators' jobs are run.
#[derive(Debug)]
pub(crate) struct Jobs {
    sim: SimHandle,
    /// Where soccer agents connect, if the scenario has soccer.
    soccer_agents: Option<SocketAddr>,
    panel: Option<Arc<OperatorPanel>>,
    /// This server's simulators, if the scenario has evolution.
    simulators: Option<Simulators>,
    runs: Runs,
    demo: Demo,
    playbacks: Playbacks,
    saved: SavedItems,
    operators: Pool,
    viewers: Pool,
}

/// The parts of the server that [`Jobs`] work on.
#[derive(Debug)]
pub(crate) struct JobContext {
    pub(crate) sim: SimHandle,
    pub(crate) soccer_agents: Option<SocketAddr>,
    pub(crate) panel: Option<Arc<OperatorPanel>>,
    pub(crate) simulators: Option<Simulators>,
    pub(crate) runs: Runs,
    pub(crate) demo: Demo,
    pub(crate) playbacks: Playbacks,
    pub(crate) saved: SavedItems,
}

impl Jobs {
    pub(crate) fn new(context: JobContext) -> Self {
        let JobContext { sim, soccer_agents, panel, simulators, runs, demo, playbacks, saved } = context;
        let (operators, viewers) = (Pool::new(), Pool::new());
        Self { sim, soccer_agents, panel, simulators, runs, demo, playbacks, saved, operators, viewers }
    }

    fn pool(&self, role: Role) -> &Pool {
        match role {
            Role::Operator => &self.operators,
            Role::Viewer => &self.viewers,
        }
    }

    /// Permission to run one more job of a role, unless too many are running.
    pub(super) fn try_acquire(&self, role: Role) -> Option<JobPermit> {
        let permit = Arc::clone(&self.pool(role).permits).try_acquire_owned().ok()?;
        Some(JobPermit { role, _permit: permit })
    }

    /// Runs a job.
    pub(super) async fn run(self: Arc<Self>, job: Job, permit: JobPermit) -> Result<JobResult, JobError> {
        match job {
            Job::NameFace(naming) => self.name_face(naming).await,
            job => {
                let work = tokio::task::spawn_blocking(move || {
                    let result = self.run_blocking(job, permit.role);
                    // only now: the job goes on if its client leaves
                    drop(permit);
                    result
                });
                work.await.unwrap_or_else(|error| {
                    tracing::error!(protocol = PROTOCOL, "job failed: {error}");
                    Err(FAILED.into())
                })
            }
        }
    }

    async fn name_face(&self, naming: Naming) -> Result<JobResult, JobError> {
        let panel = self.panel.as_ref().ok_or("this world has no puppet")?;
        let (reply, replied) = oneshot::channel();
        panel.request_naming(naming, Box::new(Reply(reply)));
        match timeout(limits::CONSOLE_NAMING_TIMEOUT, replied).await {
            Ok(Ok(done)) => Ok(done.map(|()| JobResult::default())?),
            _ => Err("face recognition is not running; see the page Health".into()),
        }
    }

    fn evolution(&self) -> Message {
        let simulators = self.simulators.as_ref().map(Simulators::info).unwrap_or_default();
        Message::Evolution { runs: self.runs.list(), simulators }
    }

    fn run_blocking(&self, job: Job, role: Role) -> Result<JobResult, JobError> {
        let runs = &self.runs;
        let simulators = || self.simulators.as_ref().ok_or("this scenario has no evolution");
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
            Job::ListRuns => self.evolution().into(),
            Job::ChangeSimulators(settings) => {
                simulators()?.change(&settings)?;
                self.evolution().into()
            }
            Job::StartRun(run) => {
                simulators()?;
                runs.start(&run)?;
                self.evolution().into()
            }
            Job::StopRun(name) => {
                runs.stop(&name)?;
                JobResult::default()
            }
            Job::ResumeRun(name, generations) => {
                simulators()?;
                runs.resume(&name, generations)?;
                JobResult::default()
            }
            Job::ReadRun(name) => Message::Run(runs.detail(&name)?).into(),
            Job::ReplayTrial(name, generation) => {
                let _one_at_a_time = self.pool(role).replay.lock();
                Message::Replay(runs.replay(&name, generation)?).into()
            }
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

#[cfg(test)]
mod tests {
    use world::clock::Pace;

    use crate::testing::{console_server, running};

    use super::*;

    #[test]
    fn jobs_of_viewers_leave_room_for_those_of_operators() {
        let sim = running(Pace::Lockstep);
        let jobs = console_server(sim.handle()).jobs;
        for (busy, witness) in [(Role::Viewer, Role::Operator), (Role::Operator, Role::Viewer)] {
            let permits: Vec<_> = std::iter::from_fn(|| jobs.try_acquire(busy)).collect();
            assert_eq!(permits.len(), limits::CONSOLE_JOBS_PER_ROLE, "{busy:?}");
            let _replay = jobs.pool(busy).replay.lock();
            assert!(
                jobs.try_acquire(witness).is_some() && jobs.pool(witness).replay.try_lock().is_some(),
                "{witness:?}"
            );
        }
    }
}
