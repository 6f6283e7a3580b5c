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
}

impl Service for Config {
    fn config(&self) -> toml::Table {
        toml::Table::try_from(self).unwrap_or_default()
    }

    fn endpoints(&self, world: &Catalogue, _: Pace) -> Result<Vec<Endpoint>, String> {
        self.ports.iter().map(|(agent, &port)| endpoint(world, agent, port)).collect()
    }
}

fn endpoint(world: &Catalogue, agent: &str, port: u16) -> Result<Endpoint, String> {
    let card = world.agent_named(agent).ok_or_else(|| {
        let known: Vec<_> = world.agents.iter().map(|card| card.name.as_str()).collect();
        format!("no agent named `{agent}` for port {port}; the scenario has {}", known.join(", "))
    })?;
    let motors = card.motors.len();
    if motors > MAX_MOTORS {
        return Err(format!("`{agent}` has {motors} motors, ODCP supports at most {MAX_MOTORS}"));
    }
    let session = OverDatagrams(OdcpSession { agent: agent.to_owned() });
    Ok(Endpoint {
        id: EndpointId::Odcp { agent: agent.to_owned() },
        title: format!("ODCP of {agent}"),
        port,
        kind: EndpointKind::Datagram(Box::new(session)),
    })
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
        let endpoints = |agent: &str| {
            Config { ports: BTreeMap::from([(agent.to_owned(), 7)]) }.endpoints(&catalogue, Pace::Realtime)
        };

        let fine = endpoints("Rover").unwrap();
        assert_eq!((fine[0].title.as_str(), fine[0].port), ("ODCP of Rover", 7));
        for (agent, wanted) in [("Rovver", "the scenario has Rover, Giant"), ("Giant", "513 motors")] {
            let error = endpoints(agent).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
