//! TLS for the console: the user's own certificate, or one that is made here and kept for the user.

use std::{
    fmt::Write,
    fs, io,
    net::IpAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use serde::{Deserialize, Serialize};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        self,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
        version::TLS13,
    },
};
use tracing::{info, warn};

use crate::{
    config::{Scenario, ServerConfig},
    user_data::{self, today},
};

/// Time that a certificate made here is valid. Browsers reject longer ones.
const VALIDITY: Duration = Duration::from_secs(397 * 24 * 3600);
/// A certificate is made again this long before it expires.
const RENEWAL: Duration = Duration::from_secs(30 * 24 * 3600);
/// Names in every certificate made here.
const LOCAL_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
/// Longest file of a certificate or key, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Why the console cannot be served over TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file could not be read.
    #[error("failed to read `{path}`: {cause}", path = .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Error of the file system.
        cause: io::Error,
    },
    /// A file does not contain what it should.
    #[error("no {what} in PEM format in `{path}`", path = .path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What was looked for.
        what: &'static str,
    },
    /// The key does not belong to the certificate, or is of an unknown kind.
    #[error("the console's certificate cannot be used: {0}")]
    Unusable(#[from] rustls::Error),
    /// A certificate could not be made.
    #[error("failed to make a certificate for the console: {0}")]
    Generate(#[from] rcgen::Error),
}

/// TLS of the console.
pub(crate) struct Encryption {
    pub(crate) acceptor: TlsAcceptor,
    /// Of the certificate.
    pub(crate) fingerprint: String,
}

impl Encryption {
    /// The console uses TLS if it has a certificate, or listens to other machines.
    pub(crate) fn of(scenario: &Scenario) -> Result<Option<Self>, TlsError> {
        let ServerConfig { bind, names, certificate, key, .. } = &scenario.base.server;
        let certificate = match (certificate, key) {
            (Some(certificate), Some(key)) => Certificate::load(&scenario.path(certificate), &scenario.path(key))?,
            _ if bind.is_loopback() => return Ok(None),
            _ => Certificate::load_or_make(&user_data::folder(), &names_for(*bind, names), today())?,
        };
        let fingerprint = certificate.fingerprint();
        info!("the console's certificate has the SHA-256 fingerprint {fingerprint}");
        Ok(Some(Self { acceptor: certificate.acceptor()?, fingerprint }))
    }
}

/// A certificate with its key.
#[derive(Debug)]
pub struct Certificate {
    /// The certificate, followed by those that it was signed with.
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Certificate {
    /// Reads the user's own certificate and its key, in PEM format.
    ///
    /// # Errors
    /// If a file cannot be read or contains something else.
    pub fn load(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let of_certificate = read(certificate)?;
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&of_certificate).collect();
        let chain = chain.ok().filter(|chain| !chain.is_empty());
        let pem = |path: &Path, what| TlsError::Pem { path: path.to_owned(), what };
        let chain = chain.ok_or_else(|| pem(certificate, "certificate"))?;
        let key = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|_| pem(key, "private key"))?;
        Ok(Self { chain, key })
    }

    /// Reads the certificate kept for this user, or makes one: the first time, for other names, or if it expires soon. If
    /// it cannot be written, a warning is logged and it is used for this run.
    ///
    /// # Errors
    /// If no certificate can be made for the names.
    pub fn load_or_make(folder: &Path, names: &[String], now: SystemTime) -> Result<Self, TlsError> {
        let names: Vec<String> = LOCAL_NAMES.iter().map(|name| (*name).to_owned()).chain(names.to_vec()).collect();
        let _lock = user_data::lock(folder);
        if let Some(kept) = KeptCertificate::read(folder)
            && kept.is_good_for(&names, now)
            && let Some(certificate) = kept.parse()
        {
            return Ok(certificate);
        }
        let made = KeptCertificate::make(names, now)?;
        if let Err(error) = made.write(folder) {
            warn!(folder = %folder.display(), %error, "the console's certificate was not saved, valid for this run only");
        }
        let what = "certificate";
        made.parse().ok_or_else(|| TlsError::Pem { path: KeptCertificate::path(folder), what })
    }

    /// SHA-256 of the certificate, as browsers and `openssl` print it: `AB:CD:...`.
    pub fn fingerprint(&self) -> String {
        self.chain.first().map(|certificate| fingerprint(certificate)).unwrap_or_default()
    }

    /// Accepts TLS connections with this certificate.
    ///
    /// # Errors
    /// If the key does not belong to the certificate.
    pub fn acceptor(self) -> Result<TlsAcceptor, TlsError> {
        let mut config = rustls::ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])?
            .with_no_client_auth()
            .with_single_cert(self.chain, self.key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// The fingerprint of the certificate kept for this user, if there is one.
pub fn kept_fingerprint(folder: &Path) -> Option<String> {
    KeptCertificate::read(folder)?.parse().map(|certificate| certificate.fingerprint())
}

/// The names that a certificate should have for a server that listens on this address.
fn names_for(bind: IpAddr, names: &[String]) -> Vec<String> {
    let address = Some(bind).filter(|bind| !bind.is_unspecified() && !bind.is_loopback());
    names.iter().cloned().chain(address.map(|address| address.to_string())).collect()
}

fn fingerprint(certificate: &[u8]) -> String {
    let digest = ::ring::digest::digest(&::ring::digest::SHA256, certificate);
    let mut text = String::new();
    for (index, byte) in digest.as_ref().iter().enumerate() {
        // writing to a string cannot fail
        let _ = write!(text, "{}{byte:02X}", if index == 0 { "" } else { ":" });
    }
    text
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    let failed = |cause| TlsError::Read { path: path.to_owned(), cause };
    let found = fs::metadata(path).map_err(failed)?;
    if !found.is_file() || found.len() > MAX_FILE {
        return Err(failed(io::Error::other("not a regular file, or too large")));
    }
    fs::read(path).map_err(failed)
}

/// A certificate that was made here, in the file that keeps it.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct KeptCertificate {
    /// When it expires, in s since 1970-01-01T00:00:00Z.
    expires: u64,
    names: Vec<String>,
    /// In PEM format.
    certificate: String,
    /// In PEM format.
    key: String,
}

impl KeptCertificate {
    fn path(folder: &Path) -> PathBuf {
        folder.join("certificate.toml")
    }

    fn make(names: Vec<String>, now: SystemTime) -> Result<Self, TlsError> {
        let since_1970 = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let expires = since_1970 + VALIDITY;
        let mut params = CertificateParams::new(names.clone())?;
        let mut name = DistinguishedName::new();
        name.push(DnType::CommonName, "Rossum console");
        params.distinguished_name = name;
        let epoch = rcgen::date_time_ymd(1970, 1, 1);
        // clocks of other machines may be behind
        params.not_before = epoch + since_1970.saturating_sub(Duration::from_secs(24 * 3600));
        params.not_after = epoch + expires;
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?;
        Ok(Self { expires: expires.as_secs(), names, certificate: certificate.pem(), key: key.serialize_pem() })
    }

    fn read(folder: &Path) -> Option<Self> {
        let path = Self::path(folder);
        let text = fs::read_to_string(&path).ok().filter(|_| user_data::is_private(&path))?;
        toml::from_str(&text).ok()
    }

    fn write(&self, folder: &Path) -> io::Result<()> {
        user_data::replace(&Self::path(folder), &toml::to_string(self).map_err(io::Error::other)?)?;
        // without the key, for clients to trust
        user_data::replace(&folder.join("certificate.pem"), &self.certificate)
    }

    fn is_good_for(&self, names: &[String], now: SystemTime) -> bool {
        let until = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(self.expires));
        names.iter().all(|name| self.names.contains(name)) && until.is_some_and(|until| now + RENEWAL < until)
    }

    fn parse(&self) -> Option<Certificate> {
        let certificate = CertificateDer::from_pem_slice(self.certificate.as_bytes()).ok()?;
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).ok()?;
        Some(Certificate { chain: vec![certificate], key })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A fixed date.
    fn date() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
    }

    fn made(folder: &Path, names: &[&str], now: SystemTime) -> String {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let certificate = Certificate::load_or_make(folder, &names, now).unwrap();
        let fingerprint = certificate.fingerprint();
        certificate.acceptor().unwrap();
        fingerprint
    }

    #[test]
    fn a_certificate_is_kept_private_and_renewed() {
        let folder = tempfile::tempdir().unwrap();
        let (now, path) = (date(), KeptCertificate::path(folder.path()));
        assert_eq!(kept_fingerprint(folder.path()), None);
        let first = made(folder.path(), &[], now);
        assert_eq!((first.len(), first.matches(':').count()), (95, 31), "{first}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let public = fs::read_to_string(folder.path().join("certificate.pem")).unwrap();
        assert!(public.contains("BEGIN CERTIFICATE") && !public.contains("PRIVATE"), "{public}");
        assert_eq!(made(folder.path(), &[], now + VALIDITY - RENEWAL - Duration::from_secs(1)), first);
        assert_eq!(kept_fingerprint(folder.path()), Some(first.clone()));
        let renewed = made(folder.path(), &[], now + VALIDITY - RENEWAL);
        assert_ne!(renewed, first);
        let named = made(folder.path(), &["192.0.2.1", "robots.example"], now + VALIDITY - RENEWAL);
        assert_ne!(named, renewed);
        assert_eq!(made(folder.path(), &["192.0.2.1"], now + VALIDITY), named, "it has the names and more");
        // a file that others could read, or that is damaged
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let private = made(folder.path(), &[], now);
        assert_ne!(private, named);
        fs::write(&path, "certificate = 3").unwrap();
        assert_ne!(made(folder.path(), &[], now), private);
    }

    #[test]
    fn a_certificate_is_made_even_if_it_cannot_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(made(&file.join("below"), &[], date()).len(), 95);
    }

    #[test]
    fn a_users_certificate_is_read_and_checked() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let [one, other] = [(); 2].map(|()| KeptCertificate::make(vec!["localhost".to_owned()], date()).unwrap());
        let certificate = file("one.pem", &one.certificate);
        let (key, other_key) = (file("one.key", &one.key), file("other.key", &other.key));
        let both = file("both.pem", &format!("{}{}", one.certificate, one.key));
        let (empty, missing) = (file("empty.pem", ""), folder.path().join("missing.pem"));
        for (certificate, key, problem) in [
            (&certificate, &key, None),
            (&both, &both, None),
            (&certificate, &other_key, Some("cannot be used")),
            (&key, &key, Some("no certificate in PEM format")),
            (&certificate, &certificate, Some("no private key in PEM format")),
            (&empty, &key, Some("no certificate")),
            (&missing, &key, Some("missing.pem")),
            (&certificate, &folder.path().to_owned(), Some("not a regular file")),
        ] {
            let result = Certificate::load(certificate, key).and_then(Certificate::acceptor);
            let error = result.map(|_| ()).map_err(|error| error.to_string());
            match problem {
                None => assert_eq!(error, Ok(())),
                Some(problem) => assert!(error.as_ref().is_err_and(|text| text.contains(problem)), "{error:?}"),
            }
        }
    }
}
