import { servePublicly, type PublicServer } from "@drover/runtime";
import { type Completion, completionSchema, rememberSecrets, signed } from "@drover/webhook";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { otherSecret, secret } from "../calls/calling.fixture.ts";
import { completionApp } from "./completion-app.ts";
import { pendingRuns } from "./pending-runs.ts";

const audience = { name: "web/greetings", uid: "f-1" };
const neighbour = { name: "web/others", uid: "f-2" };
const completion: Completion = {
  audience,
  key: "web/ada",
  token: "t-1",
  code: 200,
  result: { status: { a: 1 } },
};

let server: PublicServer;
let isHeld: boolean;
let taken: Completion[];
let forget: () => void;
let outcomes: string[];
/** What the Secret of a function holds. */
let secrets: Record<string, string[] | undefined>;

beforeEach(async () => {
  [isHeld, taken, outcomes] = [true, [], []];
  secrets = { [audience.name]: [secret], [neighbour.name]: [otherSecret] };
  const pending = pendingRuns();
  const remembered = Object.fromEntries(
    Object.keys(secrets).map((name) => [
      name,
      rememberSecrets(
        () => Promise.resolve(secrets[name] ?? []),
        () => performance.now(),
        60_000,
      ),
    ]),
  );
  const run = pending.expect("t-1", { audience, key: "web/ada", held: () => isHeld });
  ({ forget } = run);
  void run.completed.then((one) => taken.push(one));
  const app = completionApp({
    secretsOf: ({ name, uid }) => (uid.startsWith("f-") ? remembered[name] : undefined),
    ...{ complete: pending.complete, most: 5, now: Date.now },
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  server = await servePublicly({ app, host: "127.0.0.1", port: 0, settings: "" });
});
afterEach(() => server.close());

const send = async (
  body: string | Uint8Array<ArrayBuffer>,
  {
    by = [secret],
    at = Date.now(),
    headers = {},
  }: { by?: string[]; at?: number; headers?: Record<string, string> } = {},
): Promise<number> => {
  const all = { ...signed(by, { id: "c-1", at }, body), ...headers };
  return (await fetch(`${server.url}/completions`, { method: "POST", body, headers: all })).status;
};
const text = (more: object = {}): string => JSON.stringify({ ...completion, ...more });

it("takes a result while its run is held, once", async () => {
  expect(await send(text())).toBe(204);
  expect(taken).toEqual([completion]);
  expect(await send(text())).toBe(409);
  expect(taken).toHaveLength(1);
  expect(outcomes).toEqual(["taken", "not held"]);
});

it("believes a secret that was changed a moment ago", async () => {
  secrets[audience.name] = ["whsec_" + Buffer.alloc(32, 9).toString("base64")];
  expect(await send(text(), { by: secrets[audience.name] ?? [] })).toBe(204);
});

describe("refuses", () => {
  afterEach(() => expect(taken).toEqual([]));

  it.each<[string, () => Promise<number>, number]>([
    ["what is signed with another secret", () => send(text(), { by: [otherSecret] }), 401],
    [
      "a neighbour's word, signed with its own secret",
      () => send(text({ audience: neighbour }), { by: [otherSecret] }),
      409,
    ],
    ["our token from a neighbour that names us", () => send(text(), { by: [otherSecret] }), 401],
    ["a function that there is not", () => send(text({ audience: { ...audience, uid: "g-1" } })), 401],
    ["a namesake that was there before", () => send(text({ audience: { ...audience, uid: "f-0" } })), 409],
    ["another key", () => send(text({ key: "web/eve" })), 409],
    ["another token", () => send(text({ token: "t-0" })), 409],
    ["what was signed long ago", () => send(text(), { at: Date.now() - 301_000 }), 401],
    ["what is not signed", () => send(text(), { headers: { "webhook-signature": "" } }), 401],
    ["no JSON", () => send("{"), 400],
    ["10,000 deep", () => send("[".repeat(10_000)), 400],
    ["an answer without the rest", () => send('{"status":{}}'), 401],
    ["fields that are not known", () => send(text({ more: 1 })), 401],
    ["__proto__", () => send(text().replace('"a":1', '"__proto__":{"a":1}')), 401],
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
    const good = signed([secret], { id: "c-1", at: Date.now() }, text())["webhook-signature"];
    expect(await send(text(), { headers: { "webhook-signature": `${good}, ${good}` } })).toBe(401);
  });

  it("a call, sent back with its own signature", async () => {
    const call = { ...completion, type: "dev.drover.reconcile.v1", uid: "o", object: {}, result: undefined };
    expect(completionSchema.safeParse(call).success).toBe(false);
    expect(await send(JSON.stringify(call))).toBe(401);
  });
});

it("anything else but POST /completions is not found", async () => {
  expect((await fetch(`${server.url}/`)).status).toBe(404);
  expect((await fetch(`${server.url}/completions`)).status).toBe(404);
});
