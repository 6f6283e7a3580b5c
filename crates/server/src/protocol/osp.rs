//! The `[osp]` section of a scenario.

use ::session::osp::Osp;
use serde::{Deserialize, Serialize};
use world::{Catalogue, clock::Pace};

use super::{Endpoint, EndpointId, EndpointKind, Protocol, Service};

/// OSP in the list of protocols.
pub(super) const PROTOCOL: Protocol = Protocol {
    name: "osp",
    title: "ORCS Standard Protocol 1.1",
    configure: |section, _| Ok(Box::new(section.try_into::<Config>()?)),
    restore_director: None,
};

/// The `[osp]` section of a scenario.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Config {
    /// UDP port that clients greet; 0 for any free one.
    port: u16,
}

impl Default for Config {
    fn default() -> Self {
        Self { port: 45454 }
    }
}

impl Service for Config {
    fn config(&self) -> toml::Table {
        toml::Table::try_from(self).unwrap_or_default()
    }

    fn endpoints(&self, _: &Catalogue, _: Pace) -> Result<Vec<Endpoint>, String> {
        let kind = EndpointKind::Conversation(Box::new(Osp::default()));
        Ok(vec![Endpoint { id: EndpointId::Osp, title: "OSP".to_owned(), port: self.port, kind }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_that_of_the_document_unless_another_is_chosen() {
        for (section, port) in [("", 45_454), ("port = 45454", 45_454), ("port = 7", 7), ("port = 0", 0)] {
            let config: Config = toml::from_str(section).unwrap();
            let endpoints = config.endpoints(&Catalogue::default(), Pace::Eager).unwrap();
            let ports: Vec<_> = endpoints.iter().map(|endpoint| endpoint.port).collect();
            assert_eq!(ports, [port], "{section}");
        }
    }
}
