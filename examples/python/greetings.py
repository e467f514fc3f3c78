"""A function that greets: it writes a greeting for `spec.name` into `status.text`."""

import itertools

from drover import Again, Answer, Call, Done, Failed, Finalized, Parked, serve

counter = itertools.count(1)  # For tests of the contract. Not an example to follow: it is lost with the process.


def reconcile(call: Call) -> Answer:
    runs, spec = next(counter), call.spec
    if not isinstance(spec.get("name"), str):
        return Parked("spec.name: give a name", reason="InvalidSpec")
    if spec.get("refuse"):
        return Parked("no greeting for that", reason="NoGreeting")
    if spec.get("fail"):
        return Failed("this one always fails")
    if "wait" in spec:
        return Again(f"{spec['wait']}s", "not yet", reason="TooEarly")
    status = {"text": f"Hello, {spec['name']}!"}
    return Done(status={**status, "runs": runs} if spec.get("count") else status)


def finalize(call: Call) -> Answer:
    return Again("1s", "not yet", reason="TooEarly") if call.spec.get("hold") else Finalized()


if __name__ == "__main__":
    serve(reconcile=reconcile, finalize=finalize)
