//! Listening sockets as users see them.

use std::{
    fmt::Write,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
};

use ipnet::IpNet;
use serde::Serialize;

use crate::protocol::{EndpointId, evo::Simulators};

/// A listening socket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Address {
    /// The endpoint that listens on it.
    pub id: EndpointId,
    /// Human-readable name.
    pub title: String,
    /// `tcp`, `udp`, `http` or `https`.
    pub kind: &'static str,
    /// Address and port; the IP address may be unspecified.
    pub address: SocketAddr,
    /// Where clients reach it: several addresses if it listens on all of this machine's.
    pub reachable: Vec<SocketAddr>,
}

impl Address {
    /// A socket that serves these networks besides this machine.
    pub fn new(
        id: EndpointId,
        title: impl Into<String>,
        kind: &'static str,
        address: SocketAddr,
        allow: &[IpNet],
    ) -> Self {
        Self { id, title: title.into(), kind, address, reachable: reachable(address, allow) }
    }

    /// Where programs on this machine reach it.
    pub fn local(&self) -> SocketAddr {
        SocketAddr::new(loopback_of(self.address.ip()), self.address.port())
    }
}

/// All listening sockets of a server.
#[derive(Clone, Debug)]
pub struct Endpoints {
    /// Those of the world and the console.
    pub(crate) fixed: Vec<Address>,
    /// Those of the simulators, which may change.
    pub(crate) simulators: Option<Simulators>,
}

impl Endpoints {
    /// Those of the simulators come first.
    pub fn all(&self) -> Vec<Address> {
        let simulators = self.simulators.iter().flat_map(Simulators::addresses);
        simulators.chain(self.fixed.iter().cloned()).collect()
    }
}

/// Text printed at the start: title and addresses.
pub fn first_screen(title: &str, addresses: &[Address]) -> String {
    let mut text = format!("{title}\n\n");
    let width = addresses.iter().map(|address| address.title.len()).max().unwrap_or(0);
    for Address { title, kind, reachable, .. } in addresses {
        let is_page = kind.starts_with("http");
        for (nth, address) in reachable.iter().enumerate() {
            let title = if nth == 0 { title } else { "" };
            let location = if is_page { format!("{kind}://{address}/") } else { format!("{kind} {address}") };
            // writing to a string cannot fail
            let _ = writeln!(text, "  {title:<width$}  {location}");
        }
    }
    text
}

/// Where clients reach a socket. If it listens on all addresses, these are the machine's own in the networks that it serves,
/// and the loopback address.
fn reachable(address: SocketAddr, allow: &[IpNet]) -> Vec<SocketAddr> {
    if !address.ip().is_unspecified() {
        return vec![address];
    }
    let mut own: Vec<IpAddr> = Vec::new();
    // a socket for all IPv6 addresses serves IPv4 as well
    for network in allow.iter().filter(|network| address.is_ipv6() || network.addr().is_ipv4()) {
        own.extend(own_address(network).filter(|found| !found.is_loopback() && !own.contains(found)));
    }
    own.push(loopback_of(address.ip()));
    own.into_iter().map(|ip| SocketAddr::new(ip, address.port())).collect()
}

/// The loopback address instead of an unspecified one.
fn loopback_of(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    }
}

/// The address from which this machine would send to a network, which is the one that its hosts reach. Nothing is sent.
fn own_address(network: &IpNet) -> Option<IpAddr> {
    let (any, elsewhere): (IpAddr, IpAddr) = match network {
        IpNet::V4(_) => (Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::new(192, 0, 2, 1).into()),
        IpNet::V6(_) => (Ipv6Addr::UNSPECIFIED.into(), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into()),
    };
    // the network of all addresses has no host that stands for it
    let host = if network.contains(&elsewhere) { elsewhere } else { network.hosts().next()? };
    let socket = UdpSocket::bind(SocketAddr::new(any, 0)).ok()?;
    socket.connect(SocketAddr::new(host, 9)).ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|found| !found.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(address: &str, allow: &[&str]) -> Vec<String> {
        let allow: Vec<IpNet> = allow.iter().map(|network| network.parse().unwrap()).collect();
        let address = Address::new(EndpointId::WorldSimulator, "World", "tcp", address.parse().unwrap(), &allow);
        address.reachable.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_address_is_shown_as_it_is_and_all_addresses_as_this_machines_own() {
        assert_eq!(shown("192.0.2.7:7770", &["192.0.2.0/24"]), ["192.0.2.7:7770"]);
        assert_eq!(shown("0.0.0.0:7770", &[]), ["127.0.0.1:7770"]);
        assert_eq!(shown("[::]:7770", &[]), ["[::1]:7770"]);
        // every machine has these
        assert_eq!(shown("0.0.0.0:7770", &["127.0.0.0/8"]), ["127.0.0.1:7770"]);
        for (address, allow) in [("0.0.0.0:7770", "0.0.0.0/0"), ("[::]:7770", "::/0"), ("[::]:7770", "0.0.0.0/0")] {
            let shown = shown(address, &[allow, allow]);
            assert!(
                (1..=2).contains(&shown.len()) && shown.iter().all(|shown| !shown.contains("0.0.0.0")),
                "{shown:?}"
            );
            for shown in &shown {
                // whatever it is, it is an address of this machine
                let ip = shown.parse::<SocketAddr>().unwrap().ip();
                UdpSocket::bind(SocketAddr::new(ip, 0)).unwrap();
            }
        }
    }

    #[test]
    fn json_has_the_id_of_the_endpoint() {
        for (id, expected) in [(EndpointId::Osp, "osp"), (EndpointId::Odcp { agent: "Rover".to_owned() }, "odcp:Rover")]
        {
            let address = Address::new(id, "A title", "udp", "127.0.0.1:45454".parse().unwrap(), &[]);
            assert_eq!(serde_json::to_value(&address).unwrap()["id"], expected);
        }
    }

    #[test]
    fn each_address_has_a_line_on_the_first_screen() {
        let mut address =
            Address::new(EndpointId::WorldSimulator, "World", "tcp", "0.0.0.0:7770".parse().unwrap(), &[]);
        address.reachable.insert(0, "192.0.2.7:7770".parse().unwrap());
        let console = Address::new(EndpointId::Console, "Console", "http", "127.0.0.1:1920".parse().unwrap(), &[]);
        let expected = "A title\n\n  World    tcp 192.0.2.7:7770\n           tcp 127.0.0.1:7770\n  Console  http://127.0.0.1:1920/\n";
        assert_eq!(first_screen("A title", &[address, console]), expected);
    }
}
