//! Event registrations.

use std::collections::BTreeSet;

use wire::osp::{LocalEvent, Reply, Text};
use world::{Snapshot, event::EventId};

use super::{OspSession, locals::Locals};
use crate::ConversationOutbox;

/// Events that the client has registered for.
#[derive(Debug, Default)]
pub(super) struct Events {
    pub(super) ids: Locals<EventId>,
    pub(super) registered: BTreeSet<EventId>,
    /// Registered events that have occurred since the last report.
    pub(super) occurred: BTreeSet<LocalEvent>,
}

impl OspSession {
    pub(super) fn register_for_event(&mut self, name: &Text, world: &Snapshot, out: &mut ConversationOutbox) {
        let event = match world.catalogue.event_named(name.as_str()) {
            Some(card) => {
                self.events.registered.insert(card.id);
                LocalEvent(self.events.ids.number(card.id))
            }
            None => LocalEvent::NOT_FOUND,
        };
        self.send(&Reply::RegisterForEventAck { event }, out);
    }

    pub(super) fn deregister_from_event(&mut self, event: LocalEvent, out: &mut ConversationOutbox) {
        let was_registered = self.events.ids.thing(event.0).is_some_and(|id| self.events.registered.remove(&id));
        self.events.occurred.remove(&event);
        let event = if was_registered { event } else { LocalEvent::NOT_FOUND };
        self.send(&Reply::DeregisterFromEventAck { event }, out);
    }
}
