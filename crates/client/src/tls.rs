//! Connections to consoles that use TLS. A console is trusted by the fingerprint of its certificate, which it prints when it
//! starts: its certificate is usually self-signed.

use std::{
    fmt,
    io::{self, Read, Write},
    net::TcpStream,
    str::FromStr,
    sync::Arc,
};

use ring::digest::{SHA256, digest};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme, StreamOwned,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring::default_provider, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
    version::TLS13,
};

/// SHA-256 of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

/// The text is not a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 64 hexadecimal digits, with or without colons")]
pub struct InvalidFingerprint;

impl FromStr for Fingerprint {
    type Err = InvalidFingerprint;

    fn from_str(text: &str) -> Result<Self, InvalidFingerprint> {
        let digits: Vec<u8> = text
            .chars()
            .filter(|letter| *letter != ':')
            .map(|letter| letter.to_digit(16).and_then(|digit| u8::try_from(digit).ok()).ok_or(InvalidFingerprint))
            .collect::<Result<_, _>>()?;
        let pair = |pair: &[u8]| pair.iter().fold(0, |byte, digit| byte << 4 | digit);
        let bytes: Vec<u8> = digits.chunks(2).map(pair).collect();
        match digits.len() {
            64 => bytes.try_into().map(Self).map_err(|_| InvalidFingerprint),
            _ => Err(InvalidFingerprint),
        }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .enumerate()
            .try_for_each(|(index, byte)| write!(f, "{}{byte:02X}", if index == 0 { "" } else { ":" }))
    }
}

/// A connection to a console, encrypted or not.
#[derive(Debug)]
pub enum Stream {
    /// Not encrypted.
    Plain(TcpStream),
    /// Encrypted.
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    /// Encrypts a connection, and completes the handshake.
    ///
    /// # Errors
    ///
    /// If the server has another certificate, or does not use TLS.
    pub fn encrypt(mut stream: TcpStream, fingerprint: Fingerprint) -> io::Result<Self> {
        let provider = Arc::new(default_provider());
        let verifier = Arc::new(Pinned { fingerprint, provider: Arc::clone(&provider) });
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        let name = ServerName::from(stream.peer_addr()?.ip());
        let mut connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
        while connection.is_handshaking() {
            connection.complete_io(&mut stream)?;
        }
        Ok(Self::Tls(Box::new(StreamOwned::new(connection, stream))))
    }

    /// The connection underneath.
    pub fn tcp(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => stream.get_ref(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

/// Accepts one certificate, whatever names it has and whoever signed it.
#[derive(Debug)]
struct Pinned {
    fingerprint: Fingerprint,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if digest(&SHA256, certificate).as_ref() == self.fingerprint.0 {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        // not offered
        Err(Error::General("TLS 1.2 is not supported".to_owned()))
    }

    /// Proves that the server has the certificate's key.
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_parsed_and_printed() {
        let plain = "0123456789abcdef".repeat(4);
        let parsed: Fingerprint = plain.parse().unwrap();
        let printed = parsed.to_string();
        assert!(printed.starts_with("01:23:45:67:89:AB:CD:EF:01") && printed.len() == 95, "{printed}");
        assert_eq!(printed.parse(), Ok(parsed));
        for wrong in ["", "01", &plain[1..], &format!("{plain}00"), &plain.replace('a', "g")] {
            assert_eq!(wrong.parse::<Fingerprint>(), Err(InvalidFingerprint), "{wrong}");
        }
    }
}
