//! Signatures after <https://www.standardwebhooks.com>, and the secrets that the gateway shares with the function.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use hyper::{HeaderMap, StatusCode};
use sha2::Sha256;

use crate::receiver::Refusal;

/// Greatest difference between the time of a message and our clock: an older message may be a replay.
pub(crate) const TOLERANCE: Duration = Duration::from_secs(300);
const MAX_SIGNATURES: usize = 50;
const MIN_SECRET_BYTES: usize = 24;

type Secret = Vec<u8>;

/// Secrets are decoded as all packages do, with padding or without.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The files `current` and, during a change of the secret, `previous` of a folder in which a Secret is mounted.
///
/// They are read for each request, so that a changed Secret counts at once. If reading fails, the secrets that were read
/// before stay valid.
pub(crate) struct FolderSecrets {
    folder: PathBuf,
    last: Mutex<Arc<[Secret]>>,
}

/// The shared secrets cannot be used. The message states why, without the secret.
#[derive(Debug)]
pub(crate) struct SecretError(String);

impl fmt::Display for SecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FolderSecrets {
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, SecretError> {
        let folder = folder.into();
        let last = Mutex::new(read(&folder)?);
        Ok(Self { folder, last })
    }

    pub fn current(&self) -> Arc<[Secret]> {
        let read = read(&self.folder);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(secrets) => *last = secrets,
            Err(error) => {
                log!("The secrets cannot be read; those that were read before stay in use: {error}")
            }
        }
        last.clone()
    }
}

fn read(folder: &Path) -> Result<Arc<[Secret]>, SecretError> {
    let current = read_secret(&folder.join("current"))?.ok_or_else(|| {
        SecretError(format!(
            "There is no file current in {}. Mount the Secret <name>-webhook of the ReconcileFunction there \
             (DROVER_WEBHOOK_SECRETS).",
            folder.display()
        ))
    })?;
    let previous = read_secret(&folder.join("previous"))?;
    Ok([current].into_iter().chain(previous).collect())
}

fn read_secret(path: &Path) -> Result<Option<Secret>, SecretError> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(SecretError(format!(
                "{} cannot be read: {}.",
                path.display(),
                error.kind()
            )));
        }
    };
    let encoded = text
        .trim_ascii()
        .strip_prefix(b"whsec_")
        .unwrap_or_default();
    let secret = LENIENT.decode(encoded).unwrap_or_default();
    // An empty secret is none: anyone could sign with it.
    if secret.len() < MIN_SECRET_BYTES {
        let path = path.display();
        let problem = format!(
            "The secret in {path} is not whsec_ with {MIN_SECRET_BYTES} bytes or more in base64."
        );
        return Err(SecretError(problem));
    }
    Ok(Some(secret))
}

/// The signatures of a message, one with each secret, as the value of webhook-signature.
pub(crate) fn signatures(secrets: &[Secret], id: &str, timestamp: &str, body: &[u8]) -> String {
    let sign =
        |mac: Hmac<Sha256>| format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()));
    macs(secrets, id, timestamp, body)
        .map(sign)
        .collect::<Vec<_>>()
        .join(" ")
}

fn macs(
    secrets: &[Secret],
    id: &str,
    timestamp: &str,
    body: &[u8],
) -> impl Iterator<Item = Hmac<Sha256>> {
    secrets.iter().map(move |secret| {
        let mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of every length");
        mac.chain_update(id)
            .chain_update(".")
            .chain_update(timestamp)
            .chain_update(".")
            .chain_update(body)
    })
}

/// The id of a verified message, and when it was signed, in seconds since 1970.
#[derive(Debug)]
pub(crate) struct Verified {
    pub id: String,
    pub at: u64,
}

/// Verifies that a message was signed with one of the secrets.
///
/// `now` is in seconds since 1970.
pub(crate) fn verify(
    secrets: &[Secret],
    headers: &HeaderMap,
    body: &[u8],
    now: u64,
) -> Result<Verified, Refusal> {
    let refused = |message| Refusal {
        status: StatusCode::UNAUTHORIZED,
        message,
    };
    let unsigned = || refused("the call is not signed");
    let id = only(headers, "webhook-id").ok_or_else(unsigned)?;
    let timestamp = only(headers, "webhook-timestamp").ok_or_else(unsigned)?;
    let given = only(headers, "webhook-signature").ok_or_else(unsigned)?;
    let valid_id = (1..=256).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'.');
    let valid_time =
        (1..=12).contains(&timestamp.len()) && timestamp.bytes().all(|byte| byte.is_ascii_digit());
    let at: u64 = timestamp.parse().map_err(|_| unsigned())?;
    if !valid_id || !valid_time {
        return Err(unsigned());
    }
    if now.abs_diff(at) > TOLERANCE.as_secs() {
        return Err(refused(
            "the call was not signed within five minutes: compare the clocks",
        ));
    }
    // The decoder accepts only canonical base64.
    let decode = |one: &str| BASE64_STANDARD.decode(one.strip_prefix("v1,")?).ok();
    let theirs: Vec<_> = given
        .split(' ')
        .take(MAX_SIGNATURES)
        .filter_map(decode)
        .collect();
    // All are compared, so that the time does not reveal which one fits. Each comparison takes constant time.
    let fits = macs(secrets, id, timestamp, body).map(|ours| {
        theirs
            .iter()
            .filter(|one| ours.clone().verify_slice(one).is_ok())
            .count()
    });
    if fits.sum::<usize>() == 0 {
        return Err(refused(
            "the call is not signed with a secret of this function",
        ));
    }
    Ok(Verified { id: id.into(), at })
}

/// The value of a header. One that came twice, also joined by a proxy, counts as missing.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    (values.next().is_none() && !value.contains(", ")).then_some(value)
}
