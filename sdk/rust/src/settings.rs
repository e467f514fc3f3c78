//! The settings of a function's process: the environment variables that Drover's deployer sets.

use std::time::Duration;

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// DROVER_WEBHOOK_AUDIENCE: namespace/name of the ReconcileFunction.
    pub audience: String,
    /// DROVER_WEBHOOK_UID: its uid. Without it, calls for an earlier object of the same name are answered, too.
    pub uid: Option<String>,
    /// DROVER_WEBHOOK_SECRETS: the folder in which the Secret <name>-webhook is mounted.
    pub secrets: String,
    /// DROVER_HTTP_HOST: the address to listen on, by default 127.0.0.1.
    pub host: String,
    /// DROVER_HTTP_PORT: by default 8080; 0 is any free port.
    pub port: u16,
    /// DROVER_STOP_GRACE: the time for calls in progress to end after SIGTERM, by default 20s.
    pub stop_grace: Duration,
}

/// Reads the settings. An error states what to set.
pub(crate) fn settings_from(
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Settings, &'static str> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let parts_of = |audience: &str| audience.split('/').filter(|part| !part.is_empty()).count();
    let audience = set("DROVER_WEBHOOK_AUDIENCE")
        .filter(|one| {
            one.matches('/').count() == 1
                && parts_of(one) == 2
                && !one.contains(char::is_whitespace)
        })
        .ok_or("Set DROVER_WEBHOOK_AUDIENCE to namespace/name of the ReconcileFunction.")?;
    let secrets = set("DROVER_WEBHOOK_SECRETS").ok_or(
        "Set DROVER_WEBHOOK_SECRETS to the folder in which the Secret <name>-webhook is mounted.",
    )?;
    let port = set("DROVER_HTTP_PORT").unwrap_or("8080".into());
    let grace = set("DROVER_STOP_GRACE").unwrap_or("20s".into());
    Ok(Settings {
        audience,
        uid: set("DROVER_WEBHOOK_UID"),
        secrets,
        host: set("DROVER_HTTP_HOST").unwrap_or("127.0.0.1".into()),
        port: port
            .parse()
            .map_err(|_| "Set DROVER_HTTP_PORT to a port from 0 to 65535.")?,
        stop_grace: duration(&grace).ok_or("Set DROVER_STOP_GRACE to a duration such as 20s.")?,
    })
}

/// A duration as Drover writes it, such as 70000ms, 1m30s or 1.5h.
fn duration(mut text: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    while !text.is_empty() {
        let (number, rest) = text.split_at(text.find(|c: char| c != '.' && !c.is_ascii_digit())?);
        let (unit, rest) = rest.split_at(
            rest.find(|c: char| c.is_ascii_digit())
                .unwrap_or(rest.len()),
        );
        let seconds = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        let has_digits = number.starts_with(|c: char| c.is_ascii_digit()) && !number.ends_with('.');
        let number: f64 = number.parse().ok().filter(|_| has_digits)?;
        total = total.checked_add(Duration::try_from_secs_f64(number * seconds).ok()?)?;
        text = rest;
    }
    (total > Duration::ZERO).then_some(total)
}
