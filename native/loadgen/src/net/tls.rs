//! TLS to a service: how its certificate is checked, and the sessions of connections.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ClientConnection, Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use serde::Deserialize;

/// The key `tls` of a user's service.
#[derive(Deserialize)]
pub struct TlsSettings {
    /// A file of certificates to trust; empty for those of this machine.
    ca: String,
    insecure: bool,
}

/// What all connections to a host have in common.
pub struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Tls {
    /// host: what the certificate must be valid for. protocol: what is offered by ALPN.
    pub fn new(settings: &TlsSettings, host: &str, protocol: &str) -> Result<Self, String> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let trust = if settings.insecure {
            None
        } else {
            Some(Trust::of(&settings.ca, &provider)?)
        };
        let mut config = builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Check { provider, trust }))
            .with_no_client_auth();
        config.resumption = Resumption::disabled(); // as the Python client: each handshake is whole
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let host = host.trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(host.clone()).map_err(|error| format!("host {host}: {error}"))?;
        Ok(Self {
            config: Arc::new(config),
            name,
        })
    }

    /// A session that has not begun.
    pub fn session(&self) -> Result<Box<ClientConnection>, Error> {
        let mut session = ClientConnection::new(Arc::clone(&self.config), self.name.clone())?;
        session.set_buffer_limit(None); // a request is written as a whole
        Ok(Box::new(session))
    }
}

/// Which certificates are right.
#[derive(Debug)]
struct Trust {
    chains: Arc<WebPkiServerVerifier>,
    given: Vec<CertificateDer<'static>>,
}

impl Trust {
    fn of(file: &str, provider: &Arc<CryptoProvider>) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        let wrong = |error: &dyn std::fmt::Display| format!("ca {file}: {error}");
        let given: Vec<_> = if file.is_empty() {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            Vec::new()
        } else {
            let certificates = CertificateDer::pem_file_iter(file).map_err(|error| wrong(&error))?;
            certificates
                .collect::<Result<_, _>>()
                .map_err(|error| wrong(&error))?
        };
        for certificate in &given {
            roots.add(certificate.clone()).map_err(|error| wrong(&error))?;
        }
        let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
        Ok(Self {
            chains: chains.build().map_err(|error| wrong(&error))?,
            given,
        })
    }
}

/// How a certificate is checked. No trust: any certificate is right; what is signed with it must be.
#[derive(Debug)]
struct Check {
    provider: Arc<CryptoProvider>,
    trust: Option<Trust>,
}

impl ServerCertVerifier for Check {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(trust) = &self.trust else {
            return Ok(ServerCertVerified::assertion());
        };
        let verified = trust
            .chains
            .verify_server_cert(certificate, others, name, ocsp, now);
        if verified.is_ok() || !trust.given.contains(certificate) {
            return verified;
        }
        // webpki refuses a certificate that signed itself if it may sign others, too; OpenSSL takes it
        verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
