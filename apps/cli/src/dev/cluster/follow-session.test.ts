import { type ObjectKey, ReconcileFunction, silentLog } from "@drover/controller";
import { builtin, type KubeObject, keyOf, refOf } from "@drover/kube";
import { acknowledgement, sessionMark } from "@drover/runtime";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { crdOf } from "../../../../../packages/testing/src/crd-of.fixture.ts";
import { sandboxOfFile } from "../../../../../packages/testing/src/sandbox.fixture.ts";
import { noteKey, noteKind, notes as ref } from "../../testing/deployed-notes.fixture.ts";
import { type FollowSessionOptions, followSession } from "./follow-session.ts";
import { type SessionLabels, sessionLabels } from "./session-labels.ts";

const { client, sandbox } = await sandboxOfFile({ kinds: [ReconcileFunction], namespaces: ["web"] });
const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
await client.create(
  builtin.crd,
  crdOf({
    group: noteKind.group,
    kind: noteKind.kind,
    openAPIV3Schema: { type: "object", properties: { spec: anything, status: anything } },
  }),
);
const functions = refOf(ReconcileFunction);
let count = 0;
let name: string;
let session: string;
const ada = () => ({ name: session, secret: "secret" });
beforeEach(() => {
  name = `note-${count++}`;
  session = `ada-${count}`;
});

const create = (labels = {}, namespace = "default"): Promise<KubeObject> =>
  client.create(ref, { metadata: { name, namespace, labels }, spec: {} });
const now = async (): Promise<KubeObject> => {
  const object = await client.get(ref, noteKey(name));
  if (object === undefined) throw new Error("gone");
  return object;
};
const labelsOf = (of = session, namespaces?: readonly string[]) =>
  sessionLabels({ client, ref, namespaces, session: { ...ada(), name: of } });
/** Creates the object of the test, and has its session choose it. */
async function choose(labels = labelsOf()): Promise<SessionLabels> {
  await create();
  await labels.take(noteKey(name));
  return labels;
}
const markOf = async () => (await now()).metadata.annotations?.["drover.dev/dev-mark"];
const acknowledge = async (by = session): Promise<unknown> => {
  const condition = { ...acknowledgement(by), lastTransitionTime: "2026-01-01T00:00:00Z" };
  return client.replace(
    ref,
    { ...(await now()), status: { conditions: [condition] } },
    { subresource: "status" },
  );
};

/** Ends with the test, if it is not healed before. */
const fault = (respond: Parameters<typeof sandbox.faults.respond>[0]): (() => void) => {
  const heal = sandbox.faults.respond(respond);
  onTestFinished(heal);
  return heal;
};

/** A deployed function without a process. It goes with the test. */
async function deploy(spec: object = {}, more: object = {}): Promise<void> {
  const { metadata } = await client.create(functions, {
    metadata: { name: `notes-${count++}`, namespace: "web" },
    spec: { for: { ...noteKind, scope: "Namespaced", ...more }, ...spec },
  });
  onTestFinished(async () => {
    await client.delete(functions, keyOf({ metadata }));
  });
}

/** Follows the session until the end of the test. */
function follow(options: Partial<FollowSessionOptions> = {}) {
  const stop = new AbortController();
  const printed: string[] = [];
  const woken: string[] = [];
  const late: (() => void)[] = [];
  const followed = followSession({
    client,
    ref,
    embedded: undefined,
    namespaces: undefined,
    session: ada(),
    labels: labelsOf(),
    hasStatus: true,
    onAcknowledged: (key) => Promise.resolve(void woken.push(key)),
    print: (text) => printed.push(text),
    log: silentLog,
    signal: stop.signal,
    after(_span, callback) {
      late.push(callback);
      return () => void late.splice(late.indexOf(callback), 1);
    },
    ...options,
  });
  onTestFinished(async () => {
    stop.abort();
    await followed.done;
  });
  return { printed, woken, late, isHere: (key: ObjectKey) => followed.isHere(key) };
}

describe("an object of a session", () => {
  it("is marked, and runs, if no function is deployed for it", async () => {
    await deploy({}, { plural: "others" });
    await deploy({}, { namespaces: ["web"] });
    await deploy({}, { labelSelector: { matchLabels: { shard: "b" } } });
    const { woken, printed, isHere } = follow({ labels: await choose() });
    await expect.poll(() => woken).toEqual([`default/${name}`]);
    expect(isHere(noteKey(name))).toBe(true);
    expect(printed).toEqual([`Note default/${name} runs here now.`]);
    expect(await markOf()).toBe(sessionMark(ada(), (await now()).metadata.uid, "alone"));
  });

  it("waits for the acknowledgement of the deployed function, and says so when none comes", async () => {
    await deploy({ paused: true });
    const { woken, printed, late, isHere } = follow({ labels: await choose() });
    await expect.poll(() => printed.length).toBe(1);
    expect(printed[0]).toMatch(/waits until the deployed function web\/notes-\d+ acknowledges/);
    late[0]?.();
    expect(printed[1]).toMatch(
      /has not acknowledged for 10 s\..*web\/notes-\d+ is paused.*version of Drover.*drover why/,
    );
    await acknowledge("bob-2");
    await client.patch(ref, noteKey(name), { type: "merge", body: { spec: { changed: true } } });
    expect([woken, isHere(noteKey(name))]).toEqual([[], false]);
    await acknowledge();
    await expect.poll(() => woken).toEqual([`default/${name}`]);
    expect(late).toEqual([]);
    expect(await markOf()).toBe(sessionMark(ada(), (await now()).metadata.uid, "beside"));
  });

  it("waits for a deployed function with a bridge in its process, which has no ReconcileFunction", async () => {
    const embedded = noteKey(`embedded-${count++}`);
    const labels = await choose();
    const metadata = { name: embedded.replace("default/", ""), namespace: "default" };
    const template = {
      metadata: { labels: { app: "notes" } },
      spec: { containers: [{ name: "a", image: "a" }] },
    };
    const spec = { selector: { matchLabels: { app: "notes" } }, template };
    await client.create(builtin.deployment, { metadata, spec });
    const { printed, woken } = follow({ labels, embedded });
    await expect
      .poll(() => printed)
      .toEqual([expect.stringContaining(`deployed function ${embedded} acknowledges`)]);
    await acknowledge();
    await expect.poll(() => woken).toHaveLength(1);
  });

  it("of a kind that Drover does not write the status of runs only without a deployed function", async () => {
    await deploy();
    const { woken, printed } = follow({ labels: await choose(), hasStatus: false });
    await expect
      .poll(() => printed)
      .toEqual([expect.stringContaining("Use a cluster without this function")]);
    expect(woken).toEqual([]);
  });

  it("no longer runs here when it loses the label, and waits again when it gets it back", async () => {
    await deploy();
    const labels = await choose();
    const { woken, printed, isHere } = follow({ labels });
    await expect.poll(() => printed.at(-1)).toMatch(/waits until/);
    await acknowledge();
    await expect.poll(() => woken).toHaveLength(1);
    await labels.giveBack();
    await expect.poll(() => printed.at(-1)).toMatch(/no longer runs here/);
    expect(isHere(noteKey(name))).toBe(false);
    await client.replace(ref, { ...(await now()), status: {} }, { subresource: "status" });
    await labels.take(noteKey(name));
    await expect.poll(() => printed.at(-1)).toMatch(/waits until/);
  });

  it("does not run if it was not chosen: others may set the label, and create an object in its place", async () => {
    await create({ "drover.dev/dev": session });
    const labels = labelsOf();
    const { woken, printed } = follow({ labels });
    await expect
      .poll(() => printed)
      .toEqual([expect.stringMatching(/was not chosen\. Give it with --object/)]);
    await client.delete(ref, noteKey(name));
    await labels.create(noteKey(name), () => create({ "drover.dev/dev": session }));
    await expect.poll(() => woken).toEqual([`default/${name}`]);
    await client.delete(ref, noteKey(name));
    await create({ "drover.dev/dev": session });
    await expect.poll(() => printed.at(-1)).toMatch(/was not chosen/);
    expect(woken).toHaveLength(1);
    expect(await markOf()).toBeUndefined();
  });

  it("is looked at again after the API server has refused", async () => {
    const labels = await choose();
    const heal = fault(({ method, path }) =>
      method === "PATCH" && path.endsWith(name) ? { status: 503, message: "not now" } : undefined,
    );
    const warned: string[] = [];
    const { woken } = follow({ labels, log: { ...silentLog, warn: (_, text) => void warned.push(text) } });
    await expect.poll(() => warned.join()).toMatch(/could not be taken over: .*not now/);
    expect(woken).toEqual([]);
    heal();
    await expect.poll(() => woken).toHaveLength(1);
  });
});

describe("the label of a session", () => {
  it("is set once, and never in place of another session's", async () => {
    const { metadata } = await create();
    await labelsOf().take(noteKey(name));
    await labelsOf().take(noteKey(name));
    await expect(labelsOf("bob-2").take(noteKey(name))).rejects.toThrow(
      `is reconciled by the session ${session} of drover dev. End that session first. If it no longer runs: kubectl label notes.tests.example.com -A -l drover.dev/dev=${session} drover.dev/dev-`,
    );
    expect((await now()).metadata).toMatchObject({
      uid: metadata.uid,
      labels: { "drover.dev/dev": session },
    });
  });

  it("of two sessions at once, one gets the object", async () => {
    await create();
    const taken = await Promise.allSettled(["a", "b", "c"].map((one) => labelsOf(one).take(noteKey(name))));
    expect(taken.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("is removed from all of its objects, with its mark, also while others change them; other labels stay", async () => {
    await create({ "drover.dev/dev": session, team: "a" });
    await labelsOf().mark(await now(), "alone");
    let changes = 0;
    const heal = fault(({ method, path }) =>
      method === "PATCH" && path.endsWith(name) && changes++ === 0
        ? { status: 409, reason: "Conflict", message: "changed" }
        : undefined,
    );
    expect(await labelsOf(session, ["web"]).giveBack()).toEqual([]);
    expect(await labelsOf().giveBack()).toContain(noteKey(name));
    heal();
    expect(changes).toBe(2);
    const { labels, annotations = {} } = (await now()).metadata;
    expect([labels, annotations]).toEqual([{ team: "a" }, {}]);
  });
});
