use hyper::body::Bytes;

use super::{Body, now};
use crate::call::{Call, parse_call};
use crate::history::{History, Limits, Pending, RETENTION, Run, Step};

fn call(body: &Body) -> (Call, String) {
    let text = body.text();
    (parse_call(text.as_bytes()).unwrap().call, text)
}

fn begin(history: &History, body: &Body, at: u64, now: u64) -> Step {
    let (call, text) = call(body);
    history.begin(&call, at, text.as_bytes(), now)
}

fn run(step: Step) -> (Run, Pending) {
    match step {
        Step::Run(run, answer) => (run, answer),
        Step::Repeated(_) => panic!("it came before"),
        Step::Refused => panic!("it is refused"),
    }
}

#[tokio::test]
async fn a_newer_call_of_a_key_ends_the_run_and_waits_for_that() {
    let history = History::new(Limits::default());
    let (mut first, answer) = run(begin(&history, &Body::default(), now(), now()));
    let turn = first.turn().await;
    let newer = Body {
        token: "t2".into(),
        version: 2,
        ..Body::default()
    };
    let (second, _) = run(begin(&history, &newer, now(), now()));
    first.superseded().await;
    let mut waits = tokio::spawn(second.turn());
    tokio::task::yield_now().await;
    assert!(!waits.is_finished());
    history.end(first, Some(Bytes::from("first")));
    assert_eq!(answer.wait().await.unwrap(), "first");
    drop(turn);
    (&mut waits).await.unwrap();
}

#[tokio::test]
async fn a_repeated_call_gets_the_answer_of_the_first() {
    let history = History::new(Limits::default());
    let (call, text) = call(&Body::default());
    let begin = |body: &str| history.begin(&call, now(), body.as_bytes(), now());
    let (first, _) = run(begin(&text));
    let (Step::Repeated(during), Step::Refused) = (begin(&text), begin(&format!("{text} "))) else {
        panic!()
    };
    history.end(first, Some(Bytes::from("once")));
    let Step::Repeated(after) = begin(&text) else {
        panic!()
    };
    assert_eq!(
        (during.wait().await.unwrap(), after.wait().await.unwrap()),
        ("once".into(), "once".into())
    );
}

#[test]
fn a_call_that_is_older_than_the_newest_of_its_key_is_refused() {
    for (version, at, is_refused) in [(4, 0, true), (5, -1, true), (5, 0, false), (6, -1, false)] {
        let history = History::new(Limits::default());
        run(begin(
            &history,
            &Body {
                version: 5,
                ..Body::default()
            },
            now(),
            now(),
        ));
        let other = Body {
            token: "t2".into(),
            version,
            ..Body::default()
        };
        let step = begin(&history, &other, now().saturating_add_signed(at), now());
        assert_eq!(matches!(step, Step::Refused), is_refused, "{version} {at}");
    }
}

#[test]
fn memory_is_bounded_and_nothing_runs_twice() {
    for (limits, answered) in [
        (
            Limits {
                calls: 10,
                bytes: 1 << 20,
            },
            9,
        ),
        (
            Limits {
                calls: 100,
                bytes: 1_000,
            },
            10,
        ),
    ] {
        let (history, now) = (History::new(limits), now());
        let bodies: Vec<_> = (0..30)
            .map(|i| {
                call(&Body {
                    token: format!("t{i}"),
                    key: format!("web/{i}"),
                    ..Body::default()
                })
            })
            .collect();
        let ask = |i: usize| {
            history.begin(
                &bodies[i].0,
                now - 40 + i as u64,
                bodies[i].1.as_bytes(),
                now,
            )
        };
        for i in 0..30 {
            let (run, _) = run(ask(i));
            history.end(run, Some(vec![0; 100].into()));
        }
        let again = (0..30).map(ask).filter(|step| match step {
            Step::Run(..) => panic!("it ran twice"),
            Step::Repeated(_) => true,
            Step::Refused => false,
        });
        assert_eq!(again.count(), answered);
        // An older version of an object, by the time of then: etcd was restored.
        let late = Body {
            token: "late".into(),
            version: 0,
            key: "web/29".into(),
            ..Body::default()
        };
        run(begin(
            &history,
            &late,
            now + RETENTION + 1,
            now + RETENTION + 1,
        ));
    }
}
