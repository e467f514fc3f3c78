import { keyOf, type KubeObject } from "@drover/kube";
import { beforeEach, describe, expect, it } from "vitest";
import { type SessionMark, sessionMark } from "./developed-object.ts";
import { acknowledgement } from "../status/session-condition.ts";
import { conditionsOf } from "../schema/parse-object.ts";
import {
  reconcileWidget,
  runOf,
  widgetFinalizers as finalizers,
  widgetsOfFile,
  widgets as ref,
} from "./widgets.fixture.ts";

const { client, sandbox, writes, create } = await widgetsOfFile();

const called: string[] = [];
let during: () => Promise<unknown> = () => Promise.resolve();
const definition = {
  reconcile: async () => {
    called.push("reconcile");
    await during();
    return { status: { made: 1 } };
  },
  finalize: () => Promise.resolve(void called.push("finalize")),
};
let count = 0;
let name: string;
beforeEach(() => {
  name = `widget-${count++}`;
  during = () => Promise.resolve();
});

const labels = { "drover.dev/dev": "ada-1" };
const ada = { name: "ada-1", secret: "only ada's processes have this" };
const session = { session: ada };
/** Marks the object, as the session does. */
const mark = async (as: SessionMark = "beside", by = ada): Promise<KubeObject> => {
  const annotations = { "drover.dev/dev-mark": sessionMark(by, (await now()).metadata.uid, as) };
  return client.patch(ref, runOf(name).key, { type: "merge", body: { metadata: { annotations } } });
};
/** The condition beside the others. */
const acknowledged = async (): Promise<readonly string[]> =>
  conditionsOf(await now()).flatMap(({ type, message }) => (type === "UnderDevelopment" ? [message] : []));
const now = async (): Promise<KubeObject> => {
  const object = await client.get(ref, runOf(name).key);
  if (object === undefined) throw new Error("gone");
  return object;
};
const label = async (value: string | null): Promise<KubeObject> =>
  client.patch(ref, runOf(name).key, {
    type: "merge",
    body: { metadata: { labels: { "drover.dev/dev": value } } },
  });

/** One run of the deployed function, or of a session. */
async function run(options: object = {}, more: object = {}) {
  writes.splice(0);
  called.splice(0);
  const outcome = await reconcileWidget(client, { ...definition, ...more }, runOf(name), {
    announce: () => undefined,
    ...options,
  });
  return { kind: outcome.kind, called: [...called], writes: [...writes] };
}

describe("the deployed function", () => {
  it("acknowledges a session once, calls no code, and leaves the rest of the status as it was", async () => {
    await create(name);
    await run();
    const before = (await now())["status"] as object;
    await label("ada-1");
    expect(await run()).toEqual({ kind: "paused", called: [], writes: [`PUT ${name}/status`] });
    const { conditions, ...fields } = (await now())["status"] as { readonly conditions: readonly unknown[] };
    expect({ ...fields, conditions: conditions.slice(0, -1) }).toEqual(before);
    expect(await acknowledged()).toEqual([acknowledgement("ada-1").message]);
    expect(await run()).toEqual({ kind: "paused", called: [], writes: [] });
  });

  it("acknowledges another session in place of one that has ended", async () => {
    await create(name, { labels });
    await run();
    await label("bob-2");
    await run();
    expect(await acknowledged()).toEqual([acknowledgement("bob-2").message]);
  });

  it("does not finalize an object of a session", async () => {
    await create(name, { labels, finalizers });
    await client.delete(ref, runOf(name).key);
    expect(await run()).toMatchObject({ kind: "paused", called: [] });
    expect(await acknowledged()).toHaveLength(1);
    await label(null);
    expect((await run()).called).toEqual(["finalize"]);
    expect(await client.get(ref, runOf(name).key)).toBeUndefined();
  });

  it("removes the acknowledgement before it calls code", async () => {
    await create(name, { labels });
    await run();
    await label(null);
    let seen: readonly string[] = ["not called"];
    during = async () => (seen = await acknowledged());
    expect(await run()).toMatchObject({ kind: "done", called: ["reconcile"] });
    expect(seen).toEqual([]);
  });

  it("calls no code if the label comes back before the acknowledgement is removed", async () => {
    await create(name, { labels });
    await run();
    await label(null);
    const heal = sandbox.faults.respond(({ method, path }) => {
      if (method !== "PUT" || !path.includes(name)) return undefined;
      return { status: 409, reason: "Conflict", message: "the label came back" };
    });
    expect(await run()).toMatchObject({ kind: "conflict", called: [] });
    heal();
  });

  it("reads the label before the code is called, also if it comes while the key is leased", async () => {
    await create(name);
    await mark();
    during = () => label("ada-1");
    expect(await run()).toMatchObject({ called: ["reconcile"] });
    // The run before has not acknowledged, so the session may not run yet.
    expect(await acknowledged()).toEqual([]);
    expect(await run(session)).toMatchObject({ kind: "wait", called: [] });
    expect(await run()).toMatchObject({ kind: "paused", called: [] });
    expect(await run(session)).toMatchObject({ kind: "done", called: ["reconcile"] });
  });

  it("leaves a paused object as it is: it acknowledges nothing", async () => {
    await create(name, { labels, annotations: { "drover.dev/paused": "true" } });
    expect(await run()).toEqual({ kind: "paused", called: [], writes: [] });
  });
});

describe("a session", () => {
  it("runs its object only with its label and its acknowledgement", async () => {
    await create(name, { labels: { "drover.dev/dev": "bob-2" } });
    await mark();
    expect(await run(session)).toEqual({ kind: "paused", called: [], writes: [] });
    await run();
    expect(await run(session)).toEqual({ kind: "paused", called: [], writes: [] });
    await label("ada-1");
    // The acknowledgement is of another session.
    expect(await run(session)).toEqual({ kind: "wait", called: [], writes: [] });
    await run();
    expect(await run(session)).toMatchObject({ kind: "done", called: ["reconcile"] });
    await label(null);
    expect(await run(session)).toEqual({ kind: "paused", called: [], writes: [] });
  });

  it("keeps the acknowledgement through its own runs, also failed ones, and finalizes its object", async () => {
    await create(name, { labels });
    await mark();
    await run();
    await run(session);
    expect(await acknowledged()).toHaveLength(1);
    const failing = { reconcile: () => Promise.reject(new Error("not today")) };
    expect(await run(session, failing)).toMatchObject({ kind: "retry" });
    expect(await acknowledged()).toHaveLength(1);
    await client.delete(ref, runOf(name).key);
    expect(await run()).toMatchObject({ kind: "paused", called: [] });
    expect((await run(session)).called).toEqual(["finalize"]);
    expect(await client.get(ref, keyOf({ metadata: { name, namespace: "default" } }))).toBeUndefined();
  });

  it("runs without an acknowledgement if its mark says that no function is deployed", async () => {
    await create(name, { labels });
    await mark("alone");
    expect(await run(session)).toMatchObject({ kind: "done", called: ["reconcile"] });
    // A function that is deployed meanwhile finds the label.
    expect(await run()).toMatchObject({ kind: "paused", called: [] });
  });

  it("does not run an object that others have labelled: it is chosen by a mark for its uid", async () => {
    await create(name, { labels });
    await run();
    expect(await run(session)).toEqual({ kind: "paused", called: [], writes: [] });
    await mark("alone", { ...ada, secret: "a guess" });
    expect(await run(session)).toMatchObject({ kind: "paused", called: [] });
    const { annotations } = (await mark("alone")).metadata;
    // Taken to another object.
    name = `${name}-copy`;
    await create(name, { labels, annotations });
    await run();
    expect(await run(session)).toMatchObject({ kind: "paused", called: [] });
  });

  it.each([
    ["of another status", { status: "False" }],
    ["of another type", { type: "Ready" }],
    ["with another message", { message: "The session ada-1." }],
  ])("accepts no condition %s", async (_what, change) => {
    await create(name, { labels });
    const object = await mark();
    const condition = { ...acknowledgement("ada-1"), lastTransitionTime: "2026-01-01T00:00:00Z", ...change };
    await client.replace(ref, { ...object, status: { conditions: [condition] } }, { subresource: "status" });
    expect(await run(session)).toMatchObject({ kind: "wait", called: [] });
  });

  it("uses no cached object: it may be older than the label", async () => {
    await create(name, { labels });
    const { metadata, ...rest } = await mark("alone");
    const base = runOf(name);
    const claim = {
      ...base.claim,
      versions: { "widgets.tests.drover.dev": metadata.resourceVersion },
      cachedObject: JSON.stringify({ ...rest, metadata }),
      uid: metadata.uid,
    };
    await label(null);
    const outcome = await reconcileWidget(
      client,
      { ...definition, copies: true },
      { ...base, claim },
      session,
    );
    expect(outcome.kind).toBe("paused");
  });
});
