//! Steps and resets.

use wire::osp::{LocalAgent, Request, SequenceNumber};

use super::{ATTEMPTS, Client, ClientError, REPLY_TIMEOUT, Step, check_length, now, progress::Progress};

impl Client {
    /// Puts the simulation back to its start, and waits until that is done: when all who control agents have asked for
    /// it. A client without agents is obeyed while nobody controls any. The same seed gives the same start; 0 leaves it
    /// to the others, or as it is. Steps that are awaited are forgotten.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotCompleted`] if somebody does not ask, or when no answer arrives.
    pub fn reset(&mut self, seed: i32) -> Result<(), ClientError> {
        let give_up = now() + self.patience;
        self.clear_late_replies()?;
        let request = Request::ResetSimulation { seed }.to_bytes_in(self.dialect);
        let mut datagram = Vec::new();
        // one after the other: a lower number that arrives after a higher one is ignored
        for _ in 0..self.controlled.len().max(1) {
            datagram = self.progress.ask_reset(request.clone());
            self.insist(&datagram, Progress::is_reset_acknowledged)?;
            if self.progress.is_reset_done() {
                return Ok(());
            }
        }
        while !self.wait_until(REPLY_TIMEOUT, Progress::is_reset_done)? {
            if now() >= give_up {
                return Err(ClientError::NotCompleted { request: "reset", patience: self.patience });
            }
            self.send_bytes(&datagram)?;
        }
        Ok(())
    }

    /// Sends a datagram until it is answered.
    fn insist(&mut self, datagram: &[u8], answered: impl Fn(&Progress) -> bool) -> Result<(), ClientError> {
        for _ in 0..ATTEMPTS {
            self.send_bytes(datagram)?;
            if self.wait_until(REPLY_TIMEOUT, &answered)? {
                return Ok(());
            }
        }
        Err(ClientError::NoReply { request: "reset" })
    }

    /// Asks for a step, with inputs of agents in the order of their infos, and waits until it is done: when all who
    /// control agents have asked for it. Agents that are left out, and inputs that are left out at the end, stay as they
    /// are. Inputs are normalized; those out of bounds are clamped by the server.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotCompleted`] if somebody does not ask; then [`await_step`](Self::await_step) goes on waiting.
    /// Otherwise when an agent cannot be asked for, or no answer arrives.
    pub fn step(&mut self, inputs: &[(LocalAgent, &[f32])]) -> Result<Step, ClientError> {
        if self.controlled.is_empty() && inputs.is_empty() {
            return Err(ClientError::NothingControlled);
        }
        let left_out = self.controlled.iter().filter(|agent| inputs.iter().all(|(of, _)| of != *agent));
        let requests: Vec<_> = inputs.iter().copied().chain(left_out.map(|agent| (*agent, &[][..]))).collect();
        // all or nothing
        for (agent, inputs) in &requests {
            self.check_step(*agent, inputs)?;
        }
        for (agent, inputs) in requests {
            self.request_step(agent, inputs)?;
        }
        self.await_step()
    }

    /// Asks for a step of one agent, without waiting for anything. It is done when every agent that this client controls
    /// has been asked for.
    ///
    /// # Errors
    ///
    /// When the agent cannot be asked for, or the system cannot send.
    pub fn request_step(&mut self, agent: LocalAgent, inputs: &[f32]) -> Result<(), ClientError> {
        self.check_step(agent, inputs)?;
        // where nothing is numbered, what is late would pass for the answer
        if !self.progress.is_numbered() {
            self.clear_late_replies()?;
        }
        let request = Request::NextStep { agent, inputs: inputs.to_vec() }.to_bytes_in(self.dialect);
        let datagram = self.progress.ask_step(agent, request);
        self.send_bytes(&datagram)
    }

    fn check_step(&self, agent: LocalAgent, inputs: &[f32]) -> Result<(), ClientError> {
        if !self.controlled.contains(&agent) {
            return Err(ClientError::NotControlled { agent });
        }
        if let Some(input) = inputs.iter().position(|input| !input.is_finite()) {
            return Err(ClientError::NotFinite { agent, input });
        }
        if self.progress.is_stepping(agent) {
            return Err(ClientError::StillStepping { agent });
        }
        let request = Request::NextStep { agent, inputs: inputs.to_vec() };
        check_length(request.to_bytes_in(self.dialect).len() + SequenceNumber::BYTES)
    }

    /// Waits for the steps that were asked for. If there are none, it gives an empty one at once.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotCompleted`] if somebody does not ask, or when no answer arrives. The step is then still
    /// awaited.
    pub fn await_step(&mut self) -> Result<Step, ClientError> {
        let give_up = now() + self.patience;
        let mut unanswered = 0;
        while !self.wait_until(REPLY_TIMEOUT, Progress::is_step_done)? {
            if !self.progress.is_step_acknowledged() {
                unanswered += 1;
                if unanswered >= ATTEMPTS {
                    return Err(ClientError::NoReply { request: "step" });
                }
            }
            if now() >= give_up {
                return Err(ClientError::NotCompleted { request: "step", patience: self.patience });
            }
            let (requests, confirmations) = self.progress.repetitions();
            for confirmation in &confirmations {
                self.send(confirmation)?;
            }
            for request in &requests {
                self.send_bytes(request)?;
            }
        }
        Ok(self.progress.take_step())
    }
}
