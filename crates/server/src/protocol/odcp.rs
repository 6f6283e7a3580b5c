//! The `[odcp]` section of a scenario.

use std::collections::BTreeMap;

use ::session::{OverDatagrams, odcp::OdcpSession};
use serde::{Deserialize, Serialize};
use wire::odcp::MAX_MOTORS;
use world::{Catalogue, clock::Pace};

use super::{Endpoint, EndpointId, EndpointKind, Protocol, Service};

/// ODCP in the list of protocols.
pub(super) const PROTOCOL: Protocol = Protocol {
    name: "odcp",
    title: "ORCS Direct Control Protocol 1.0",
    configure: |section, _| Ok(Box::new(section.try_into::<Config>()?)),
    restore_director: None,
};

/// The `[odcp]` section of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    /// UDP ports by name of the agent; 0 for any free one.
    #[serde(default)]
    ports: BTreeMap<String, u16>,
    /// UDP ports of agents that may join later, such as players of a game. They are served while they are there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    joining: BTreeMap<String, u16>,
}

impl Service for Config {
    fn config(&self) -> toml::Table {
        toml::Table::try_from(self).unwrap_or_default()
    }

    fn endpoints(&self, world: &Catalogue, _: Pace) -> Result<Vec<Endpoint>, String> {
        if let Some(agent) = self.joining.keys().find(|agent| self.ports.contains_key(*agent)) {
            return Err(format!("`{agent}` has a port both in `ports` and in `joining`; keep one of them"));
        }
        let there = self.ports.iter().map(|(agent, &port)| {
            check_agent(world, agent, port)?;
            Ok(endpoint(agent, port))
        });
        there.chain(self.joining.iter().map(|(agent, &port)| Ok(endpoint(agent, port)))).collect()
    }
}

/// Checks that an agent is in the world, and that ODCP can serve it.
fn check_agent(world: &Catalogue, agent: &str, port: u16) -> Result<(), String> {
    let card = world.agent_named(agent).ok_or_else(|| {
        let known: Vec<_> = world.agents.iter().map(|card| card.name.as_str()).collect();
        format!(
            "no agent named `{agent}` for port {port}; the scenario has {}; list agents that join later under `joining`",
            known.join(", ")
        )
    })?;
    let motors = card.motors.len();
    if motors > MAX_MOTORS {
        return Err(format!("`{agent}` has {motors} motors, ODCP supports at most {MAX_MOTORS}"));
    }
    Ok(())
}

fn endpoint(agent: &str, port: u16) -> Endpoint {
    let session = OverDatagrams(OdcpSession { agent: agent.to_owned() });
    Endpoint {
        id: EndpointId::Odcp { agent: agent.to_owned() },
        title: format!("ODCP of {agent}"),
        port,
        kind: EndpointKind::Datagram(Box::new(session)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::small_world;

    #[test]
    fn ports_are_for_agents_that_exist_and_fit() {
        let world = small_world();
        let mut catalogue = Catalogue::clone(world.catalogue());
        let mut giant = catalogue.agents[0].clone();
        giant.name = "Giant".to_owned();
        giant.motors = vec![giant.motors[0].clone(); MAX_MOTORS + 1];
        catalogue.agents.push(giant);
        let endpoints = |ports: &[(&str, u16)], joining: &[(&str, u16)]| {
            let [ports, joining] =
                [ports, joining].map(|list| list.iter().map(|&(agent, port)| (agent.to_owned(), port)).collect());
            Config { ports, joining }.endpoints(&catalogue, Pace::Realtime)
        };

        let fine = endpoints(&[("Rover", 7)], &[("Left 7", 8)]).unwrap();
        let fine: Vec<_> = fine.iter().map(|endpoint| (endpoint.title.as_str(), endpoint.port)).collect();
        assert_eq!(fine, [("ODCP of Rover", 7), ("ODCP of Left 7", 8)]);
        for (ports, joining, wanted) in [
            (&[("Rovver", 7)][..], &[][..], "the scenario has Rover, Giant; list agents that join later"),
            (&[("Giant", 7)], &[], "513 motors"),
            (&[("Rover", 7)], &[("Rover", 8)], "`Rover` has a port both"),
        ] {
            let error = endpoints(ports, joining).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
