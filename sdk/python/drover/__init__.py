"""Functions for Drover that are called over HTTP.

A function is one or two handlers. Each takes a ``Call`` and returns an answer:

    from drover import Call, Composed, serve

    def compose(call: Call) -> Composed:
        page = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": call.name}, "data": {"a": "b"}}
        return Composed(children=[page])

    serve(compose=compose)

``compose`` declares the children that should exist for an object. ``reconcile`` is for everything else: it looks at the
world and moves it one step towards the spec. ``finalize`` undoes that before the object is deleted.

``serve`` verifies each call, answers a repeated call as before, keeps the order of the calls of a key, and signs the
answers, as Drover's docs/webhook-functions.md requires. It needs no other package. These files do the work:

- ``server.py`` is the HTTP server: limits, threads, SIGTERM;
- ``function.py`` takes a request through verification, history and handler;
- ``signing.py`` has the shared secrets and the signatures; ``call.py`` parses a verified call;
- ``history.py`` remembers the calls of the last ten minutes;
- ``answers.py`` has the answers; ``testing.py`` makes calls for tests of your handlers.
"""

from .answers import Again, Answer, Child, Composed, Conflict, Done, Failed, Finalized, Parked
from .call import Call
from .server import serve

__all__ = ["Again", "Answer", "Call", "Child", "Composed", "Conflict", "Done", "Failed", "Finalized", "Parked", "serve"]
