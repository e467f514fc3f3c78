use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::HeaderMap;
use serde_json::json;

use super::{Body, Folder};
use crate::call::parse_call;
use crate::settings::settings_from;
use crate::signing::{FolderSecrets, signatures, verify};
use crate::{Answer, Child, Composed, Deletion, Done, Update};

#[test]
fn signs_as_the_specification_does() {
    let secret = [BASE64_STANDARD
        .decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        .unwrap()];
    let (id, at, body) = (
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "1614265330",
        br#"{"test": 2432232314}"#,
    );
    let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    assert_eq!(signatures(&secret, id, at, body), expected);
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("webhook-id", id),
        ("webhook-timestamp", at),
        ("webhook-signature", expected),
    ] {
        headers.insert(name, value.parse().unwrap());
    }
    assert_eq!(
        verify(&secret, &headers, body, 1_614_265_330 + 300)
            .unwrap()
            .id,
        id
    );
    assert!(verify(&secret, &headers, body, 1_614_265_330 + 301).is_err());
    assert!(verify(&secret, &headers, b"{}", 1_614_265_330).is_err());
    headers.append("webhook-signature", expected.parse().unwrap());
    assert!(verify(&secret, &headers, body, 1_614_265_330).is_err());
}

#[test]
fn a_secret_that_is_none_is_refused_and_not_printed() {
    let bad = [
        "",
        "whsec_",
        "whsec_AAAA",
        "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whsec_MfKQ9r8GKYq?rTwjUPD8ILPZIo2LaLaSw",
    ];
    for (i, text) in bad.into_iter().enumerate() {
        let folder = Folder::with(&format!("bad-{i}"), text);
        let problem = FolderSecrets::open(&folder.0).err().unwrap().to_string();
        assert!(
            problem.contains(folder.0.to_str().unwrap()) && !problem.contains("KYq"),
            "{problem}"
        );
    }
}

#[test]
fn integers_of_64_bits_and_other_numbers_keep_their_digits() {
    let spec = r#"{"most":9223372036854775807,"unsigned":18446744073709551615,"least":-9223372036854775808,"part":0.1}"#;
    let body = Body {
        spec: spec.into(),
        ..Body::default()
    };
    let call = parse_call(body.text().as_bytes()).unwrap().call;
    let status = Some(call.object["spec"].clone());
    let sent = serde_json::to_string(&Answer::from(Done {
        status,
        ..Done::default()
    }))
    .unwrap();
    for digits in [
        "9223372036854775807",
        "18446744073709551615",
        "-9223372036854775808",
        "0.1",
    ] {
        assert!(sent.contains(&format!(":{digits}")), "{sent}");
    }
}

#[test]
fn what_is_not_a_call_is_refused() {
    let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    for spec in [
        &deep,
        "[]",
        "null",
        r#"{"a":"\ud800"}"#,
        r#"{"__proto__":1}"#,
        "{}}",
        r#"{"a":NaN}"#,
        "{\"a\":\"\n\"}",
    ] {
        let body = Body {
            spec: spec.into(),
            ..Body::default()
        };
        assert!(parse_call(body.text().as_bytes()).is_err(), "{spec:.20}");
    }
    let invalid = Body {
        spec: r#"{"a":"?"}"#.into(),
        ..Body::default()
    }
    .text()
    .replace('?', "\u{7f}")
    .into_bytes();
    let invalid: Vec<u8> = invalid
        .into_iter()
        .map(|byte| if byte == 0x7f { 0xff } else { byte })
        .collect();
    assert!(parse_call(&invalid).is_err());
}

#[test]
fn of_two_fields_with_one_name_the_last_counts_as_in_the_gateway() {
    let body = Body {
        spec: r#"{"a":1,"a":2}"#.into(),
        ..Body::default()
    }
    .text();
    let body = body.replacen('{', r#"{"token":"other","#, 1);
    let call = parse_call(body.as_bytes()).unwrap().call;
    assert_eq!(
        (call.token.as_str(), &call.object["spec"]["a"]),
        ("t1", &json!(2))
    );
}

#[test]
fn fields_that_the_crate_does_not_have_are_passed_on() {
    let body = Body::default()
        .text()
        .replacen('{', r#"{"later":[1,null],"#, 1);
    assert_eq!(
        parse_call(body.as_bytes()).unwrap().call.fields["later"],
        json!([1, null])
    );
}

#[test]
fn answers_have_the_names_of_the_contract() {
    let settled = Child {
        wave: Some(1),
        update: Some(Update::OnDelete),
        max_unavailable: Some(2),
        deletion: Some(Deletion::Retain),
        adopt: Some(false),
        ..json!({"kind": "B"}).into()
    };
    let composed = Composed {
        requeue_after: Some("5m".into()),
        ..Composed::of([json!({"kind": "A"}).into(), settled])
    };
    let expected = json!({
        "outcome": "composed",
        "children": [{"kind": "A"}, {
            "object": {"kind": "B"}, "wave": 1, "update": "OnDelete", "maxUnavailable": 2, "deletion": "Retain", "adopt": false,
        }],
        "requeueAfter": "5m",
    });
    assert_eq!(
        serde_json::to_value(Answer::from(composed)).unwrap(),
        expected
    );
    assert_eq!(
        serde_json::to_value(Answer::Finalized).unwrap(),
        json!({"outcome": "finalized"})
    );
    assert_eq!(
        serde_json::to_value(Answer::from(Done::default())).unwrap(),
        json!({"outcome": "done"})
    );
}

#[test]
fn a_wrong_setting_is_named() {
    let read = |name: &str, value: &str| {
        settings_from(|asked| match asked {
            asked if asked == name => Some(value.into()),
            "DROVER_WEBHOOK_AUDIENCE" => Some("web/f".into()),
            "DROVER_WEBHOOK_SECRETS" => Some("/s".into()),
            _ => None,
        })
    };
    for (name, value) in [
        ("DROVER_WEBHOOK_AUDIENCE", "f"),
        ("DROVER_WEBHOOK_AUDIENCE", "/f"),
        ("DROVER_WEBHOOK_AUDIENCE", "a/b/c"),
        ("DROVER_WEBHOOK_SECRETS", ""),
        ("DROVER_HTTP_PORT", "70000"),
        ("DROVER_STOP_GRACE", "20"),
        ("DROVER_STOP_GRACE", "s"),
        ("DROVER_STOP_GRACE", "1week"),
    ] {
        assert!(
            read(name, value).unwrap_err().contains(name),
            "{name}={value}"
        );
    }
    for (text, ms) in [
        ("70000ms", 70_000),
        ("1m30s", 90_000),
        ("1.5h", 5_400_000),
        ("1d", 86_400_000),
    ] {
        assert_eq!(
            read("DROVER_STOP_GRACE", text).unwrap().stop_grace,
            Duration::from_millis(ms)
        );
    }
}
