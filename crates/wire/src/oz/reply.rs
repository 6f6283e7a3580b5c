use super::{Event, FIRST_VERSION, Text, VERSION, decode_all, put_u32, split_by};
use crate::{DecodeError, Message, Reader, Split, StreamMessage};

/// A message from the robot to a client.
///
/// The first 32 bits distinguish the two: in a [`Welcome`] they are a version, whose first byte is at least 1; in an
/// [`Event`] they are an id, which is below 0x1A (D2). So replies can be decoded without knowing the requests.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The answer to a version request.
    Welcome(Welcome),
    /// Any other message.
    Event(Event),
}

/// The answer to a version request: the robot's protocol version and names. It has no id (D2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    version: u32,
    name: Text,
    long_name: Text,
}

impl Welcome {
    /// Creates the answer of a robot that speaks [`VERSION`]. Truncates names to [`MAX_NAME`](super::MAX_NAME) bytes.
    pub fn new(name: &str, long_name: &str) -> Self {
        Self { version: VERSION, name: Text::truncated(name), long_name: Text::truncated(long_name) }
    }

    /// The robot's protocol version: at least 0x01000000; the first byte is the major number.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The robot's short name.
    pub fn name(&self) -> &Text {
        &self.name
    }

    /// The robot's long name.
    pub fn long_name(&self) -> &Text {
        &self.long_name
    }

    fn read_version(r: &mut Reader<'_>) -> Result<u32, DecodeError> {
        let version = r.u32_be("version")?;
        if version < FIRST_VERSION {
            let (min, max) = (FIRST_VERSION.into(), u32::MAX.into());
            return Err(DecodeError::OutOfRange { field: "version", value: version.into(), min, max });
        }
        Ok(version)
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            version: Self::read_version(r)?,
            name: Text::decode(r, "name")?,
            long_name: Text::decode(r, "long name")?,
        })
    }

    fn skip(r: &mut Reader<'_>) -> Result<(), DecodeError> {
        Self::read_version(r)?;
        Text::skip(r)?;
        Text::skip(r)
    }
}

impl Message for Welcome {
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        decode_all(bytes, Self::read)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        put_u32(out, self.version);
        self.name.encode(out);
        self.long_name.encode(out);
    }
}

impl StreamMessage for Welcome {
    fn split(buffer: &[u8]) -> Result<Option<Split>, DecodeError> {
        split_by(buffer, Self::skip)
    }

    fn encode_in_stream(&self, out: &mut Vec<u8>) {
        self.encode(out);
    }
}

impl Reply {
    fn begins_with_version(bytes: &[u8]) -> bool {
        Reader::new(bytes).u32_be("id").is_ok_and(|word| word >= FIRST_VERSION)
    }
}

impl From<Welcome> for Reply {
    fn from(welcome: Welcome) -> Self {
        Self::Welcome(welcome)
    }
}

impl From<Event> for Reply {
    fn from(event: Event) -> Self {
        Self::Event(event)
    }
}

impl Message for Reply {
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        if Self::begins_with_version(bytes) {
            Welcome::decode(bytes).map(Self::Welcome)
        } else {
            Event::decode(bytes).map(Self::Event)
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Welcome(welcome) => welcome.encode(out),
            Self::Event(event) => event.encode(out),
        }
    }
}

impl StreamMessage for Reply {
    fn split(buffer: &[u8]) -> Result<Option<Split>, DecodeError> {
        if Self::begins_with_version(buffer) { Welcome::split(buffer) } else { Event::split(buffer) }
    }

    fn encode_in_stream(&self, out: &mut Vec<u8>) {
        self.encode(out);
    }
}
