import {
  type Announcement,
  objectKey,
  type ObjectKey,
  RetryAfterError,
  TerminalError,
} from "@drover/controller";
import { builtin, type KubeObject } from "@drover/kube";
import type { Run, RunOutcome } from "@drover/queue";
import { beforeEach, describe, expect, it } from "vitest";
import {
  readyOf,
  reconcileWidget,
  runOf,
  type WidgetDefinition as Definition,
  widgetFinalizers,
  widgetsOfFile,
  widgets as ref,
} from "./widgets.fixture.ts";

const { sandbox, client, writes, create: createWidget } = await widgetsOfFile();
let announced: Announcement[];
let name: string;
let key: ObjectKey;
let serial = 0;
let clock = Date.parse("2026-01-01T00:00:00Z");

beforeEach(() => {
  [announced, name] = [[], `w${serial++}`];
  key = objectKey({ namespace: "default", name });
});
const seen = (): readonly string[] => writes.splice(0);

const create = async (spec: unknown, metadata: object = {}): Promise<KubeObject> => {
  const made = await createWidget(name, metadata, { spec });
  seen();
  return made;
};
const read = async (): Promise<KubeObject> => (await client.get(ref, key)) ?? expect.fail(`${key} is gone`);
/** Another client changes the object. */
const touch = () =>
  client.patch(ref, key, { type: "merge", body: { metadata: { labels: { third: "party" } } } });

type Reconcile = NonNullable<Definition["reconcile"]>;
const nothing = () => Promise.resolve(undefined);
const made =
  (size = 3): Reconcile =>
  () =>
    Promise.resolve({ status: { made: size } });

/** The outcome of a run, without the observed version. */
type Outcome = Omit<RunOutcome, "observed">;
const reconcile = async (...run: Parameters<typeof perform>): Promise<Outcome> => {
  const { observed: _, ...outcome } = await perform(...run);
  return outcome;
};
const perform = (
  definition: Definition,
  run: Partial<Run> = {},
  now = () => new Date((clock += 60_000)),
): Promise<RunOutcome> =>
  reconcileWidget(client, definition, runOf(name, run), {
    announce: (_about, announcement) => void announced.push(announcement),
    random: () => 1,
    now,
  });

describe("a run", () => {
  it("gets the object, read live and parsed", async () => {
    const made = await create({ size: 3 });
    let given: unknown;
    await reconcile({
      reconcile: ({ key, spec, metadata }) => {
        given = { key, spec, uid: metadata.uid };
        return Promise.resolve(undefined);
      },
    });
    expect(given).toEqual({ key, spec: { size: 3, colour: "grey" }, uid: made.metadata.uid });
  });

  describe("with a cached object", () => {
    const claim = (object: KubeObject): Run["claim"] => ({
      fails: 0,
      reasons: [],
      class: "change",
      uid: object.metadata.uid,
      versions: { "widgets.tests.drover.dev": object.metadata.resourceVersion },
      cachedObject: JSON.stringify(object),
    });
    const sizeGiven = async (given: Run["claim"], copies = true): Promise<number | undefined> => {
      let size: number | undefined;
      const reconciled: Definition = {
        copies,
        reconcile: ({ spec }) => ((size = spec.size), Promise.resolve(undefined)),
      };
      await reconcile(reconciled, { claim: given });
      return size;
    };

    it("uses it as the object, and writes with its version", async () => {
      const old = await create({ size: 3 });
      await client.patch(ref, key, { type: "merge", body: { spec: { size: 4 } } });
      expect(await sizeGiven(claim(old))).toBe(3);
      expect(await reconcile({ copies: true }, { claim: claim(old) })).toEqual({ kind: "conflict" });
    });

    it("reads live if its controller declares no copies, even if the queue has one", async () => {
      await create({ size: 3 });
      const forged = async () => claim({ ...(await read()), spec: { size: 7 } });
      expect(await sizeGiven(await forged(), true)).toBe(7);
      expect(await sizeGiven(await forged(), false)).toBe(3);
    });
  });

  describe("reports the version that it observed", () => {
    const observedBy = async (reconciled: Reconcile): Promise<string> => {
      const { observed } = await perform({ reconcile: reconciled });
      if (observed === undefined) return "nothing";
      const { metadata } = await read();
      expect(observed).toMatchObject({ kind: "widgets.tests.drover.dev", uid: metadata.uid });
      return observed.resourceVersion === metadata.resourceVersion ? "the newest" : "an older one";
    };
    const write = (context: Parameters<Reconcile>[0], metadata: object): Promise<KubeObject> =>
      context.client.patch(ref, key, { type: "merge", body: { metadata } });

    it("after the writes of the runtime and the controller", async () => {
      const { metadata } = await create({ size: 3 });
      expect(await observedBy(nothing)).toBe("the newest");
      expect((await read()).metadata.resourceVersion).not.toBe(metadata.resourceVersion);
      expect(await observedBy(nothing)).toBe("the newest");
      const label: Reconcile = async (context) => {
        await write(context, { labels: { a: "b" } });
        throw new RetryAfterError("later", { after: "1s" });
      };
      expect(await observedBy(label)).toBe("the newest");
      expect(await observedBy((context) => write(context, { resourceVersion: "1" }).then(nothing))).toBe(
        "the newest",
      );
    });

    it("unless a newer version may exist", async () => {
      await create({ size: 3 });
      const healed = sandbox.faults.respond(({ method, path }) =>
        method === "PATCH" && path.endsWith(`/${name}`) ? { status: 500 } : undefined,
      );
      const failed: Reconcile = (context) => write(context, { labels: { c: "d" } }).then(nothing, nothing);
      expect(await observedBy(failed)).toBe("nothing");
      healed();
      let left: Promise<unknown> = Promise.resolve();
      const leaving: Reconcile = (context) => {
        left = write(context, { labels: { e: "f" } });
        return nothing();
      };
      expect(await observedBy(leaving)).toBe("nothing");
      await left;
      const going: Reconcile = (context) => context.client.delete(ref, key).then(nothing);
      expect(await perform({ reconcile: going })).not.toHaveProperty("observed");
    });
  });

  it("writes the status with observedGeneration and Ready, requeues for the resync, and writes nothing if nothing differs", async () => {
    await create({ size: 3 });
    const often: Definition = { resyncEvery: "10s", reconcile: made() };
    expect(await reconcile(often)).toEqual({ kind: "done", after: 10_000 });
    expect(seen()).toEqual([`PUT ${name}/status`]);
    const object = await read();
    expect(object["status"]).toMatchObject({ made: 3, observedGeneration: 1 });
    expect(readyOf(object)).toMatchObject({ status: "True", reason: "Reconciled", observedGeneration: 1 });
    await reconcile(often);
    expect(seen()).toEqual([]);
    expect(announced, "a first success is not announced").toEqual([]);
  });

  it("keeps lastTransitionTime while a condition's status is the same, and removes status fields that are not returned", async () => {
    await create({ size: 3 });
    await reconcile({ reconcile: made(1) });
    const first = readyOf(await read());
    await client.patch(ref, key, { type: "merge", body: { spec: { size: 4 } } });
    await reconcile({ reconcile: () => Promise.resolve({ status: {} }) });
    const object = await read();
    expect(object["status"]).not.toHaveProperty("made");
    expect(readyOf(object)).toEqual({ ...first, observedGeneration: 2 });
  });

  it("returns gone for a missing object", async () => {
    seen();
    expect(await reconcile({})).toEqual({ kind: "gone" });
    expect(seen()).toEqual([]);
  });

  it("reads Secrets of its own namespace only", async () => {
    await create({ size: 1 });
    for (const namespace of ["default", "kube-system"]) {
      const data = { token: Buffer.from(`of ${namespace}`).toString("base64") };
      await client.create(builtin.secret, { metadata: { name: `s-${namespace}`, namespace }, data });
    }
    const given: unknown[] = [];
    await reconcile({
      async reconcile({ readSecret }) {
        given.push(await readSecret("s-default"), await readSecret("s-kube-system"));
        await readSecret("../kube-system/s-kube-system").catch((error: unknown) => given.push(error));
      },
    });
    expect(given).toEqual([
      { token: "of default" },
      undefined,
      expect.objectContaining({ name: "InvalidKeyError" }),
    ]);
  });
});

describe("an error", () => {
  const failing = (error: Error): Definition => ({ reconcile: () => Promise.reject(error) });

  it("is retried, sets Ready=False and is announced, as is its end; fields and other conditions stay", async () => {
    await create({ size: 3 });
    await reconcile({
      reconcile: () =>
        Promise.resolve({
          status: { made: 3 },
          conditions: [{ type: "Versioned", status: "True", reason: "Yes", message: "It is." }],
        }),
    });
    expect(await reconcile(failing(new Error("no")))).toEqual({ kind: "retry", error: "no" });
    const object = await read();
    expect(readyOf(object)).toMatchObject({ status: "False", reason: "Failed", message: "no" });
    expect(object["status"]).toMatchObject({
      made: 3,
      conditions: [{ type: "Ready" }, { type: "Versioned" }, { type: "Reconciling" }],
    });
    expect(announced).toEqual([{ type: "Warning", reason: "Failed", action: "Reconcile", note: "no" }]);
    await reconcile({ reconcile: () => Promise.resolve({}) });
    expect(announced.at(-1)).toMatchObject({ type: "Normal", reason: "Reconciled" });
  });

  it("that is a conflict is not written or announced", async () => {
    await create({ size: 3 });
    const outcome = await reconcile({
      async reconcile() {
        await touch();
        return { status: { made: 3 } };
      },
    });
    expect(outcome).toEqual({ kind: "conflict" });
    expect((await read())["status"]).toBeUndefined();
    expect(announced).toEqual([]);
  });

  it("with a reason or message that Kubernetes would refuse is shortened", async () => {
    await create({ size: 3 });
    await reconcile(failing(new TerminalError("x".repeat(40_000), { reason: "9 not a word!" })));
    const ready = readyOf(await read());
    expect(ready?.reason).toBe("notaword");
    expect(ready?.message).toHaveLength(32_768);
  });

  it("of the API server with Retry-After is retried after that time", async () => {
    await create({ size: 3 });
    const remove = sandbox.faults.respond(({ method }) =>
      method === "GET" ? { status: 503, retryAfterSeconds: 7 } : undefined,
    );
    expect(await reconcile({})).toMatchObject({ kind: "retry", after: 7_000 });
    expect(seen()).toEqual([]);
    remove();
  });
});

describe("a run that must not go on", () => {
  it("writes nothing after the end of its lease, also with the client of its context", async () => {
    await create({ size: 3 });
    let held = true;
    const writing: Reconcile = async ({ client: its }) => {
      const object = await read();
      held = false;
      expect(await its.get(ref, key)).toEqual(object);
      const writes = [
        its.patch(ref, key, { type: "merge", body: object }),
        its.replace(ref, object),
        its.delete(ref, key),
      ];
      for (const end of await Promise.allSettled(writes)) expect(end.status).toBe("rejected");
      return { status: { made: 3 } };
    };
    expect(await reconcile({ reconcile: writing }, { hasLease: () => held })).toEqual({
      kind: "interrupted",
    });
    expect(seen()).toEqual([]);
  });

  it("is not a success if it was aborted", async () => {
    await create({ size: 3 });
    const stop = new AbortController();
    const outcome = await reconcile(
      { reconcile: () => (stop.abort(new Error("time is up")), Promise.resolve({ status: { made: 3 } })) },
      { signal: stop.signal },
    );
    expect(outcome).toEqual({ kind: "retry", error: "time is up" });
    expect((await read())["status"]).not.toHaveProperty("made");
    expect(readyOf(await read())).toMatchObject({ status: "False", reason: "TimedOut" });
  });
});

describe("the finalizer", () => {
  const [finalizer = ""] = widgetFinalizers;

  it("is persisted before the first reconcile", async () => {
    await create({ size: 3 });
    let finalizers: unknown;
    await reconcile({
      finalize: () => Promise.resolve(),
      async reconcile() {
        finalizers = (await read()).metadata.finalizers;
      },
    });
    expect(finalizers).toEqual([finalizer]);
    expect(seen()).toEqual([`PATCH ${name}`, `PUT ${name}/status`]);
  });

  it("prevents the reconcile if it cannot be persisted", async () => {
    await create({ size: 3 });
    const remove = sandbox.faults.respond(({ method }) => (method === "PATCH" ? { status: 500 } : undefined));
    let ran = false;
    const outcome = await reconcile({
      finalize: () => Promise.resolve(),
      reconcile: () => ((ran = true), Promise.resolve({})),
    });
    remove();
    expect(outcome.kind).toBe("retry");
    expect(ran).toBe(false);
  });

  it("is removed after finalize has returned, and others stay", async () => {
    await create({ size: 3 }, { finalizers: ["other.dev/keep", finalizer] });
    await client.delete(ref, key);
    let during: unknown;
    const { observed, ...outcome } = await perform({
      copies: true,
      finalize: async () => void (during = (await read()).metadata.finalizers),
    });
    expect(outcome).toEqual({ kind: "done" });
    expect(observed).not.toHaveProperty("cachedObject"); // the object is about to be deleted
    expect(during).toEqual(["other.dev/keep", finalizer]);
    expect((await read()).metadata.finalizers).toEqual(["other.dev/keep"]);
    expect(await reconcile({ finalize: () => Promise.reject(new Error("must not run again")) })).toEqual({
      kind: "done",
    });
  });

  it("stays if finalize fails, with the reason in the status", async () => {
    await create({ size: 3 }, { finalizers: [finalizer] });
    await client.delete(ref, key);
    const waiting = new RetryAfterError("the bucket has objects", { after: "30s", reason: "NotEmpty" });
    expect(await reconcile({ finalize: () => Promise.reject(waiting) })).toEqual({
      kind: "wait",
      after: 30_000,
    });
    expect((await read()).metadata.finalizers).toEqual([finalizer]);
    expect(readyOf(await read())).toMatchObject({ status: "False", reason: "NotEmpty" });
  });

  it("stays if the object was changed during finalize: finalize runs again", async () => {
    await create({ size: 3 }, { finalizers: [finalizer] });
    await client.delete(ref, key);
    const outcome = await reconcile({
      async finalize() {
        await touch();
      },
    });
    expect(outcome).toEqual({ kind: "conflict" });
    expect((await read()).metadata.finalizers).toEqual([finalizer]);
  });

  it("is removed without a reconcile, for any deletion timestamp", async () => {
    await create({ size: 3 }, { finalizers: [finalizer] });
    await client.delete(ref, key);
    let ran = false;
    const past = () => new Date(0); // the deletion is in the future
    const definition: Definition = {
      reconcile: () => ((ran = true), Promise.resolve(undefined)),
      finalize: () => Promise.resolve(),
    };
    await reconcile(definition, {}, past);
    expect(ran).toBe(false);
    expect(await client.get(ref, key)).toBeUndefined();
  });
});

describe("an object that cannot be used", () => {
  it.each([
    ["no spec", undefined, /^spec\.size: .*Change the object's spec\.$/],
    ["a null spec", null, /^spec\.size: /],
    ["a spec of the wrong type", "large", /^spec: /],
    ["a wrong field", { size: "3" }, /^spec\.size: .*expected number/],
    ["a number beyond all bounds", { size: 1e308 }, /^spec\.size: /],
  ])("%s is parked with InvalidSpec, without a call of reconcile", async (_what, spec, message) => {
    await create(spec);
    let ran = false;
    const outcome = await reconcile({ reconcile: () => ((ran = true), Promise.resolve({})) });
    expect(outcome.kind).toBe("terminal");
    expect(ran).toBe(false);
    expect(readyOf(await read())).toMatchObject({
      reason: "InvalidSpec",
      message: expect.stringMatching(message) as string,
    });
  });

  it("a wrong spec of a deleted object keeps its finalizer", async () => {
    await create({ size: "3" }, { finalizers: widgetFinalizers });
    await client.delete(ref, key);
    expect((await reconcile({ finalize: () => Promise.resolve() })).kind).toBe("terminal");
    expect((await read()).metadata.finalizers).toHaveLength(1);
  });

  it("an invalid status is treated as none", async () => {
    await create({ size: 3 });
    await client.patch(
      ref,
      key,
      { type: "merge", body: { status: { made: "many", conditions: "none", observedGeneration: "x" } } },
      { subresource: "status" },
    );
    const { kind } = await reconcile({ reconcile: made(1) });
    expect(kind).toBe("done");
    expect((await read())["status"]).toMatchObject({
      made: 1,
      conditions: [{ type: "Ready", status: "True" }],
    });
  });

  it("fields named __proto__ and constructor change no prototype", async () => {
    await create(
      JSON.parse('{"size":3,"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
    );
    expect((await reconcile({})).kind).toBe("done");
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain("polluted");
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("a foreign owner reference stays", async () => {
    // Its kind is not served: the garbage collector would delete the object of a missing owner.
    const owner = {
      apiVersion: "example.org/v1",
      kind: "Foreigner",
      name: "p",
      uid: "00000000-0000-0000-0000-000000000000",
      controller: true,
    };
    await create({ size: 3 }, { ownerReferences: [owner] });
    expect((await reconcile({})).kind).toBe("done");
    expect((await read()).metadata.ownerReferences).toEqual([owner]);
  });

  it("an object of almost 1.5 MiB is reconciled like any other", async () => {
    await create({ size: 3, colour: "x".repeat(1.4 * 2 ** 20) });
    const { kind } = await reconcile({ reconcile: made(1) });
    expect(kind).toBe("done");
    expect((await read())["status"]).toMatchObject({ made: 1 });
  });
});
