//! Which requests are served: those of programs and of this server's own pages, with a token where one is needed.

use std::{convert::Infallible, net::IpAddr, sync::Arc};

use axum::{
    extract::{FromRequestParts, Query, Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use serde::Deserialize;

use crate::metrics::METRICS;

/// What to say to a request for the console with a wrong token.
pub(super) const WRONG_TOKEN: &str = "wrong token: open the console with the link that `rossum serve` prints";
/// What to say to a request for another page without a token.
const NO_TOKEN: &str =
    "this page needs a token: send `Authorization: Bearer TOKEN`; `rossum tokens show viewer` prints one";

/// How this server is addressed by its own pages.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    /// `http` or `https`.
    pub(super) scheme: &'static str,
    /// Host names besides addresses and `localhost`.
    pub(super) names: Arc<[String]>,
}

/// Refuses pages of other sites. Browsers reveal them by the `Host` header if the site's name resolves to this machine (DNS
/// rebinding), and by the `Origin` header otherwise.
pub(super) async fn check_source(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if !guard.is_own_name(host) {
        forbidden(
            "unknown host name; use the server's IP address or `localhost`, or list the name in `names` of [server]",
        )
    } else if !guard.is_own_page(request.headers()) {
        forbidden("cross-origin requests are not allowed")
    } else {
        next.run(request).await
    }
}

impl Guard {
    /// Whether a request comes from a page of this server, or not from a page.
    fn is_own_page(&self, headers: &HeaderMap) -> bool {
        let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or_default());
        match (text(header::ORIGIN), text(header::HOST)) {
            (None, _) => true,
            (Some(origin), Some(host)) => origin.split_once("://") == Some((self.scheme, host)),
            (Some(_), None) => false,
        }
    }

    /// Whether a `Host` header has an address, `localhost` or one of the names, with or without a port.
    fn is_own_name(&self, host: &str) -> bool {
        let is_port = |text: &str| text.parse::<u16>().is_ok();
        let name = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(name, _)| name);
        let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        name == "localhost"
            || address.parse::<IpAddr>().is_ok()
            || self.names.iter().any(|own| own.eq_ignore_ascii_case(name))
    }
}

pub(super) fn forbidden(reason: &'static str) -> Response {
    METRICS.refusals.add("http", 1);
    (StatusCode::FORBIDDEN, format!("{reason}\n")).into_response()
}

pub(super) fn unauthorized() -> Response {
    METRICS.refusals.add("http", 1);
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], format!("{NO_TOKEN}\n")).into_response()
}

/// The token of a request, not checked yet: `Authorization: Bearer TOKEN`, or `?token=TOKEN` for links and for the
/// WebSockets of pages, which cannot set headers.
pub(super) struct Secret(pub(super) Option<String>);

#[derive(Deserialize)]
struct Link {
    token: Option<String>,
}

impl<S: Sync> FromRequestParts<S> for Secret {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let header = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = header.and_then(|value| value.split_once(' '));
        let bearer = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let link = || Query::<Link>::try_from_uri(&parts.uri).ok().and_then(|Query(link)| link.token);
        Ok(Self(bearer.map(|(_, token)| token.trim().to_owned()).or_else(link)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_names_and_pages() {
        let guard = Guard { scheme: "https", names: Arc::new(["robots.example".to_owned()]) };
        for (host, own) in [
            ("localhost", true),
            ("localhost:1920", true),
            ("127.0.0.1:1920", true),
            ("192.168.1.7", true),
            ("[::1]:1920", true),
            ("[::1]", true),
            ("robots.example:1920", true),
            ("Robots.Example", true),
            ("", false),
            ("evil.example", false),
            ("evil.example:1920", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example:1920", false),
            ("evil.robots.example", false),
            ("[localhost]", false),
        ] {
            assert_eq!(guard.is_own_name(host), own, "{host}");
        }
        for (origin, own) in [
            (None, true),
            (Some("https://192.0.2.1:1920"), true),
            (Some("http://192.0.2.1:1920"), false),
            (Some("https://192.0.2.1:1921"), false),
            (Some("https://192.0.2.1"), false),
            (Some("https://evil.example"), false),
            (Some("192.0.2.1:1920"), false),
            (Some("null"), false),
            (Some(""), false),
        ] {
            let mut headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static("192.0.2.1:1920"))]);
            headers.extend(origin.map(|origin| (header::ORIGIN, HeaderValue::from_static(origin))));
            assert_eq!(guard.is_own_page(&headers), own, "{origin:?}");
        }
    }
}
