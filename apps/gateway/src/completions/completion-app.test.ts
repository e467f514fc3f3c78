import {
  type Admission,
  openAdmission,
  type PublicServer,
  servePublicly,
  defaultAdmissionLimits,
} from "@drover/runtime";
import {
  type Audience,
  type Completion,
  completionSchema,
  completionUrl,
  signMessage,
} from "@drover/webhook";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { otherSecret, secret, secretsFrom } from "../../../../packages/calls/src/calling.fixture.ts";
import { completionApp } from "./completion-app.ts";
import { pendingRuns } from "@drover/calls";

const audience = { name: "web/greetings", uid: "f-1" };
const neighbour = { name: "web/others", uid: "f-2" };
const completion: Completion = {
  audience,
  key: "web/ada",
  token: "t-1",
  result: { outcome: "done", status: { a: 1 } },
};

let server: PublicServer;
let admission: Admission;
let isHeld: boolean;
let taken: Completion[];
let forget: () => void;
let outcomes: string[];
/** The body of the last answer. */
let responseText: string;
/** The header `Connection` of the last answer. */
let connectionHeader: string | null;
/** What the Secret of a function holds. */
let secrets: Record<string, string[] | undefined>;

beforeEach(async () => {
  [isHeld, taken, outcomes] = [true, [], []];
  secrets = { [audience.name]: [secret], [neighbour.name]: [otherSecret] };
  const pending = pendingRuns();
  const remembered = Object.fromEntries(
    Object.keys(secrets).map((name) => [name, secretsFrom(() => secrets[name] ?? [])]),
  );
  const run = pending.expect("t-1", { audience, key: "web/ada", held: () => isHeld });
  ({ forget } = run);
  void run.completed.then((one) => taken.push(one));
  admission = openAdmission(() => performance.now());
  const app = completionApp({
    admission,
    secretsOf: ({ name, uid }) => (uid.startsWith("f-") ? remembered[name] : undefined),
    complete: pending.complete,
    now: Date.now,
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  server = await servePublicly({ app, admission, host: "127.0.0.1", port: 0, settings: "" });
});
afterEach(async () => {
  await server.close();
  // Whatever became of a body, it is not counted any more.
  await expect.poll(() => admission.held()).toEqual({ unverified: 0, verified: 0 });
});

const send = async (
  body: string | Uint8Array<ArrayBuffer>,
  {
    by = [secret],
    at = Date.now(),
    headers = {},
    to = audience,
  }: { by?: string[]; at?: number; headers?: Record<string, string>; to?: Audience } = {},
): Promise<number> => {
  const all = { ...signMessage(by, { id: "c-1", at }, body), ...headers };
  const url = completionUrl(`${server.url}/`, to);
  const answer = await fetch(url, { method: "POST", body, headers: all });
  [responseText, connectionHeader] = [await answer.text(), answer.headers.get("connection")];
  return answer.status;
};
const text = (more: object = {}): string => JSON.stringify({ ...completion, ...more });

it("takes a result while its run is held, once", async () => {
  expect(await send(text())).toBe(204);
  expect(taken).toEqual([completion]);
  expect(await send(text())).toBe(409);
  expect(taken).toHaveLength(1);
  expect(outcomes).toEqual(["taken", "not held"]);
});

it("counts a signed result apart from unverified ones, which could not displace it", async () => {
  const { connection } = defaultAdmissionLimits;
  expect(await send(text(), { by: [otherSecret] })).toBe(401);
  expect(admission.held().verified).toBe(0);
  expect(await send(text())).toBe(204);
  await expect.poll(() => admission.held().verified).toBe(connection);
});

it("leaves the connection open after a refusal whose body was read to its end", async () => {
  expect(await send(text(), { by: [otherSecret] })).toBe(401);
  expect(connectionHeader).toBe("keep-alive");
});

it("believes a secret that was changed a moment ago", async () => {
  secrets[audience.name] = ["whsec_" + Buffer.alloc(32, 9).toString("base64")];
  expect(await send(text(), { by: secrets[audience.name] ?? [] })).toBe(204);
});

describe("refuses", () => {
  afterEach(() => expect(taken).toEqual([]));

  it.each<[string, () => Promise<number>, number]>([
    ["what is signed with another secret", () => send(text(), { by: [otherSecret] }), 401],
    ["a neighbour's URL with our secret and our name", () => send(text(), { to: neighbour }), 401],
    ["a function that there is not", () => send(text(), { to: { ...audience, uid: "g-1" } }), 401],
    [
      "a namesake that was there before",
      () => send(text({ audience: { ...audience, uid: "f-0" } }), { to: { ...audience, uid: "f-0" } }),
      409,
    ],
    ["another key", () => send(text({ key: "web/eve" })), 409],
    ["what is not signed", () => send(text(), { headers: { "webhook-signature": "" } }), 401],
    ["no JSON", () => send("{"), 400],
    ["no JSON that is not signed, unread", () => send("{", { by: [otherSecret] }), 401],
    ["10,000 deep", () => send("[".repeat(10_000)), 400],
    ["__proto__", () => send(text().replace('"a":1', '"__proto__":{"a":1}')), 400],
    ["what is too large", () => send(`${text()}${" ".repeat(2 ** 20)}`), 413],
    ["what is compressed", () => send(gzipSync(text()), { headers: { "content-encoding": "gzip" } }), 415],
  ])("%s", async (_what, attempt, status) => {
    expect(await attempt()).toBe(status);
  });

  it("a result when the lease is over, or the run", async () => {
    isHeld = false;
    expect(await send(text())).toBe(409);
    isHeld = true;
    forget();
    expect(await send(text())).toBe(409);
  });

  it("a signature that came twice", async () => {
    const good = signMessage([secret], { id: "c-1", at: Date.now() }, text())["webhook-signature"];
    expect(await send(text(), { headers: { "webhook-signature": `${good}, ${good}` } })).toBe(401);
  });

  it("a call, sent back with its own signature", async () => {
    const call = { ...completion, type: "dev.drover.reconcile.v2", uid: "o", object: {}, result: undefined };
    expect(completionSchema.safeParse(call).success).toBe(false);
    expect(await send(JSON.stringify(call))).toBe(400);
  });

  it("a completion of version 1, with what to change", async () => {
    expect(await send(text({ code: 200, result: { status: { a: 1 } } }))).toBe(400);
    expect(responseText).toMatch(/no \\"outcome\\", as in version 1 .*without code and retryAfter/);
  });
});

it("anything else but a POST to a function's URL is not found", async () => {
  expect((await fetch(`${server.url}/`)).status).toBe(404);
  expect((await fetch(completionUrl(`${server.url}/`, audience))).status).toBe(404);
  for (const path of ["/completions", "/completions/web/greetings", "/completions/a/b/c/d"]) {
    expect((await fetch(server.url + path, { method: "POST" })).status).toBe(404);
  }
});
