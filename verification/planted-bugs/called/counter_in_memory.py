"""Counts calls in memory: the count is lost with the process, and grows with each call that is repeated."""

import itertools
import os

from drover import Call, Done, Finalized, serve

calls = itertools.count(1)


def reconcile(call: Call) -> Done:
    runs = call.object["metadata"]["generation"] if "FIXED" in os.environ else next(calls)
    return Done(status={"text": f"Hello, {call.spec['name']}!", "runs": runs})


serve(reconcile=reconcile, finalize=lambda call: Finalized())
