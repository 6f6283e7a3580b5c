//! Steps and resets.

use wire::osp::{LocalAgent, Request, SequenceNumber};

use super::{ATTEMPTS, Client, ClientError, REPLY_TIMEOUT, Step, check_length, now, progress::Progress};

impl Client {
    /// Votes for a reset and waits until all clients that control agents have done so. A client without agents may
    /// reset only while no agent is controlled. The same seed gives the same initial state; 0 leaves the choice to the
    /// other clients, or keeps the current seed. Pending steps are dropped.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotCompleted`] if another client does not vote, or an error if no answer arrives.
    pub fn reset(&mut self, seed: i32) -> Result<(), ClientError> {
        let give_up = now() + self.timeout;
        self.clear_late_replies()?;
        let request = Request::ResetSimulation { seed }.to_bytes_in(self.dialect);
        let mut datagram = Vec::new();
        // one at a time: the server ignores a lower number after a higher one
        for _ in 0..self.controlled.len().max(1) {
            datagram = self.progress.ask_reset(request.clone());
            self.send_until(&datagram, Progress::is_reset_acknowledged)?;
            if self.progress.is_reset_done() {
                return Ok(());
            }
        }
        while !self.wait_until(REPLY_TIMEOUT, Progress::is_reset_done)? {
            if now() >= give_up {
                return Err(ClientError::NotCompleted { request: "reset", timeout: self.timeout });
            }
            self.send_bytes(&datagram)?;
        }
        Ok(())
    }

    /// Sends a datagram until `answered`.
    fn send_until(&mut self, datagram: &[u8], answered: impl Fn(&Progress) -> bool) -> Result<(), ClientError> {
        for _ in 0..ATTEMPTS {
            self.send_bytes(datagram)?;
            if self.wait_until(REPLY_TIMEOUT, &answered)? {
                return Ok(());
            }
        }
        Err(ClientError::NoReply { request: "reset" })
    }

    /// Votes for a step with the inputs of agents, in the order of their infos, and waits until all clients that
    /// control agents have done so. Omitted agents and trailing inputs keep their settings. Inputs are normalized; the
    /// server clamps those out of range.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotCompleted`] if another client does not vote; [`await_step`](Self::await_step) then continues
    /// waiting. Otherwise if a request is invalid or no answer arrives.
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

    /// Votes for a step of one agent without waiting. The step needs the votes of all agents that this client controls.
    ///
    /// # Errors
    ///
    /// If the request is invalid or sending fails.
    pub fn request_step(&mut self, agent: LocalAgent, inputs: &[f32]) -> Result<(), ClientError> {
        self.check_step(agent, inputs)?;
        // without sequence numbers, a late reply would be mistaken for the answer
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

    /// Waits for the requested steps. Returns an empty result at once if there are none.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotCompleted`] if another client does not vote, or an error if no answer arrives. The step stays
    /// pending.
    pub fn await_step(&mut self) -> Result<Step, ClientError> {
        let give_up = now() + self.timeout;
        let mut unanswered = 0;
        while !self.wait_until(REPLY_TIMEOUT, Progress::is_step_done)? {
            if !self.progress.is_step_acknowledged() {
                unanswered += 1;
                if unanswered >= ATTEMPTS {
                    return Err(ClientError::NoReply { request: "step" });
                }
            }
            if now() >= give_up {
                return Err(ClientError::NotCompleted { request: "step", timeout: self.timeout });
            }
            let (requests, confirmations) = self.progress.retransmissions();
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
