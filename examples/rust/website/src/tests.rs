use drover::testing::{answer_of, call_for};
use drover::{Answer, Call, Composed, Objects};
use serde_json::{Value, json};

use super::compose;

fn spec() -> Value {
    json!({"html": "Hi", "image": "web:1", "replicas": 2})
}

fn composed(call: Call) -> Composed {
    match answer_of(compose(call)) {
        Ok(Answer::Composed(composed)) => composed,
        other => panic!("{other:?}"),
    }
}

#[test]
fn declares_a_page_that_is_served() {
    let children = composed(call_for("a", spec())).children;
    let [page, deployment, service] = [0, 1, 2].map(|i| &children[i].object);
    assert_eq!(page["data"], json!({"index.html": "Hi"}));
    assert_eq!(deployment["spec"]["replicas"], 2);
    assert_eq!(
        service["spec"]["selector"],
        deployment["spec"]["template"]["metadata"]["labels"]
    );
}

#[test]
fn waits_for_its_secret() {
    let mut spec = spec();
    spec["secretName"] = "words".into();
    assert!(matches!(
        answer_of(compose(call_for("a", spec))),
        Ok(Answer::Again(_))
    ));
}

#[test]
fn reports_the_replicas_that_are_ready() {
    let metadata = json!({"name": "a"});
    let running = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "status": {"readyReplicas": 1},
    });
    let call = Call {
        children: Objects(vec![running]),
        ..call_for("a", spec())
    };
    let expected = json!({"address": "http://a.default.svc", "readyReplicas": 1});
    assert_eq!(composed(call).status, Some(expected));
}
