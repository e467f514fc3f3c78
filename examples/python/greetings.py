"""A function for Drover in Python 3.9 or newer, without any library.

    DROVER_WEBHOOK_AUDIENCE=web/greetings DROVER_WEBHOOK_SECRETS=/secrets DROVER_HTTP_PORT=8080 python3 greetings.py
"""
import base64, datetime, hashlib, hmac, json, os, re, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

AUDIENCE, UID = os.environ["DROVER_WEBHOOK_AUDIENCE"], os.environ.get("DROVER_WEBHOOK_UID")
FOLDER = os.environ["DROVER_WEBHOOK_SECRETS"]
TOLERANCE, LARGEST = 300, 2 * 2**20
lock = threading.Lock()
answers = {}  # id -> (when it was signed, digest of the call, what was answered)
latest = {}  # key -> (when it was signed, resourceVersion) of the newest run
runs = 0


class Refused(Exception):
    """The call is not genuine, not ours, or late. This answer is not signed, and so decides nothing."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def reconcile(spec):
    """The work of this function: from a spec to an answer that states its outcome."""
    global runs
    runs += 1
    if not isinstance(spec.get("name"), str):
        return {"outcome": "parked", "reason": "InvalidSpec", "message": "spec.name: give a name"}
    if spec.get("refuse"):
        return {"outcome": "parked", "reason": "NoGreeting", "message": "no greeting for that"}
    if spec.get("fail"):
        return {"outcome": "failed", "message": "this one always fails"}
    if "wait" in spec:
        return {"outcome": "again", "after": f"{spec['wait']}s", "reason": "TooEarly", "message": "not yet"}
    counted = {"runs": runs} if spec.get("count") else {}
    return {"outcome": "done", "status": {"text": f"Hello, {spec['name']}!", **counted}}


def finalize(spec):
    if spec.get("hold"):
        return {"outcome": "again", "after": "1s", "reason": "TooEarly", "message": "not yet"}
    return {"outcome": "finalized"}


def conflict(message):
    return {"outcome": "conflict", "message": message}


def secrets():
    """Read for each call: they may have been changed."""
    paths = [os.path.join(FOLDER, name) for name in ("current", "previous")]
    texts = [open(path).read().strip() for path in paths if os.path.exists(path)]
    found = (base64.b64decode(text.removeprefix("whsec_")) for text in texts)
    return [secret for secret in found if len(secret) >= 24]  # an empty file is no secret: everybody could sign with that


def signatures(id, timestamp, body):
    content = f"{id}.{timestamp}.".encode() + body
    macs = (hmac.new(secret, content, hashlib.sha256).digest() for secret in secrets())
    return ["v1," + base64.b64encode(mac).decode() for mac in macs]


def verify(headers, body):
    """The call, if it is the gateway's, meant for us, and in time."""
    sent = [headers.get_all(f"webhook-{name}") or [] for name in ("id", "timestamp", "signature")]
    if any(len(values) != 1 or ", " in values[0] for values in sent):  # one that came twice is no header
        raise Refused(401, "not signed")
    id, timestamp, given = (values[0] for values in sent)
    if not re.fullmatch(r"[!-\-/-~]{1,256}", id) or not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise Refused(401, "not signed")
    if abs(time.time() - int(timestamp)) > TOLERANCE:
        raise Refused(401, "not signed within five minutes; compare the clocks")
    good = signatures(id, timestamp, body)
    if not any([hmac.compare_digest(one.encode(), two.encode()) for one in given.split(" ")[:50] for two in good]):
        raise Refused(401, "no secret fits")
    call = parse(body)
    audience = call.get("audience")
    if not isinstance(audience, dict) or audience.get("name") != AUDIENCE or UID not in (None, audience.get("uid")):
        raise Refused(421, "the call is meant for another function")
    try:
        metadata, spec = call["object"]["metadata"], call["object"]["spec"]
        version = str(metadata["resourceVersion"])
        deadline = datetime.datetime.fromisoformat(call["deadline"].replace("Z", "+00:00"))
        known = call["type"] in ("dev.drover.reconcile.v2", "dev.drover.finalize.v2")
        if not known or call["token"] != id or not isinstance(call["key"], str) or not isinstance(spec, dict):
            raise ValueError
        if deadline.timestamp() <= time.time():
            raise Refused(408, "the deadline is over")
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Refused(400, "not a call") from None
    return call, int(timestamp), int(version) if version.isdecimal() else 0


def parse(body):
    try:
        call = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(400, "not JSON") from None
    if not isinstance(call, dict) or b'"__proto__"' in body:
        raise Refused(400, "not a call")
    return call


def answer(call, at, version, body):
    """The answer to the same call before, or that of a run; nothing old runs after something newer."""
    with lock:  # one at a time: long runs want a lock per key
        id, key, digest = call["token"], call["key"], hashlib.sha256(body).digest()
        for old in [one for one, (when, *_) in answers.items() if when < time.time() - 2 * TOLERANCE]:
            del answers[old]
        for old in [one for one, (when, _) in latest.items() if when < time.time() - 2 * TOLERANCE]:
            del latest[old]
        if id in answers:
            same = answers[id][1] == digest
            return answers[id][2] if same else conflict("another call came with this id")
        if key in latest and (version, at) < (latest[key][1], latest[key][0]):
            return conflict("a newer run of this key has begun")
        latest[key] = (at, version)
        act = reconcile if call["type"] == "dev.drover.reconcile.v2" else finalize
        said = act(call["object"]["spec"])
        answers[id] = (at, digest, said)
        return said


class Handler(BaseHTTPRequestHandler):
    protocol_version, timeout = "HTTP/1.1", 10

    def do_POST(self):
        id, status = None, 200
        try:
            length = int(self.headers.get("content-length", "0"))
            if length > LARGEST or self.headers.get("content-encoding", "identity") != "identity":
                self.close_connection = True
                raise Refused(413, "too large, or compressed")
            body = self.rfile.read(length)
            call, at, version = verify(self.headers, body)
            id = call["token"]
            said = answer(call, at, version, body)
        except Refused as error:
            status, said = error.status, {"message": str(error)}
        text, now = json.dumps(said).encode(), str(int(time.time()))
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        if id is not None:
            self.send_header("webhook-id", id)
            self.send_header("webhook-timestamp", now)
            self.send_header("webhook-signature", " ".join(signatures(id, now, text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    place = os.environ.get("DROVER_HTTP_HOST", "127.0.0.1"), int(os.environ.get("DROVER_HTTP_PORT", "8080"))
    server = ThreadingHTTPServer(place, Handler)
    print("Answering calls at", server.server_address, flush=True)
    server.serve_forever()
