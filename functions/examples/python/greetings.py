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
    def __init__(self, status, message, reason=None, retry_after=None):
        super().__init__(message)
        self.status, self.reason, self.retry_after = status, reason, retry_after


def reconcile(spec):
    """What this function is for: from a spec to a status."""
    global runs
    runs += 1
    if not isinstance(spec.get("name"), str):
        raise Refused(422, "spec.name: give a name", "InvalidSpec")
    if spec.get("refuse"):
        raise Refused(422, "no greeting for that", "NoGreeting")
    if spec.get("fail"):
        raise Refused(500, "this one always fails")
    if "wait" in spec:
        raise Refused(503, "not yet", "TooEarly", spec["wait"])
    counted = {"runs": runs} if spec.get("count") else {}
    return {"status": {"text": f"Hello, {spec['name']}!", **counted}}


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
        known = call["type"] in ("dev.drover.reconcile.v1", "dev.drover.finalize.v1")
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
    """What was answered to the same call before, or a run of it; nothing old after something newer."""
    with lock:  # one at a time: what runs long wants a lock per key
        id, key, digest = call["token"], call["key"], hashlib.sha256(body).digest()
        for old in [one for one, (when, *_) in answers.items() if when < time.time() - 2 * TOLERANCE]:
            del answers[old]
        for old in [one for one, (when, _) in latest.items() if when < time.time() - 2 * TOLERANCE]:
            del latest[old]
        if id in answers:
            if answers[id][1] != digest:
                raise Refused(409, "another call came with this id")
            return answers[id][2]
        if key in latest and (version, at) < (latest[key][1], latest[key][0]):
            raise Refused(409, "a newer run of this key has begun")
        latest[key] = (at, version)
        said = act(call)
        answers[id] = (at, digest, said)
        return said


def act(call):
    try:
        spec = call["object"]["spec"]
        if call["type"] == "dev.drover.reconcile.v1":
            return 200, reconcile(spec), None
        return 200, {"finalized": not spec.get("hold", False), "requeueAfter": "1s"}, None
    except Refused as error:
        return told(error)


def told(error):
    reason = {"reason": error.reason} if error.reason else {}
    return error.status, {"message": str(error), **reason}, error.retry_after


class Handler(BaseHTTPRequestHandler):
    protocol_version, timeout = "HTTP/1.1", 10

    def do_POST(self):
        id = None
        try:
            length = int(self.headers.get("content-length", "0"))
            if length > LARGEST or self.headers.get("content-encoding", "identity") != "identity":
                self.close_connection = True
                raise Refused(413, "too large, or compressed")
            body = self.rfile.read(length)
            call, at, version = verify(self.headers, body)
            id = call["token"]
            status, said, retry_after = answer(call, at, version, body)
        except Refused as error:
            status, said, retry_after = told(error)
        text, now = json.dumps(said).encode(), str(int(time.time()))
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        if retry_after is not None:
            self.send_header("retry-after", str(retry_after))
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
