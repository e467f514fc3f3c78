import { objectKey, ReconcileFunction, silentLog } from "@drover/controller";
import { builtin, keyOf, listAll, refOf } from "@drover/kube";
import { beforeEach, describe, expect, it } from "vitest";
import { sandboxOfFile } from "../../../packages/testing/src/sandbox.fixture.ts";
import { deploy } from "./deploy.ts";
import type { FunctionLoad } from "./redis/function-queues.ts";
import { functionRefOf, ownedMetadata } from "./function-ref.ts";
import type { DeployRunContext } from "./run-context.ts";
import { cup, environment, idle } from "./testing/cups.ts";

const { client } = await sandboxOfFile({
  controllers: false,
  kinds: [ReconcileFunction],
  namespaces: ["tea"],
});

const ref = refOf(ReconcileFunction);
const cups = objectKey({ namespace: "tea", name: "cups" });
let load: FunctionLoad;
let absent: ReturnType<DeployRunContext["absentParts"]>;
/** What was done in Redis, in turn. */
let done: string[];
let now: number;
beforeEach(async () => {
  [load, absent, done, now] = [idle, [], [], Date.UTC(2026, 0, 1)];
  const kinds = [builtin.pod, builtin.secret, builtin.serviceAccount, builtin.service, builtin.networkPolicy];
  for (const kind of [ref, ...kinds, builtin.role, builtin.roleBinding])
    for (const one of await listAll(client, kind, { namespace: "tea" }))
      await client.delete(kind, keyOf(one));
});

const create = (spec: object) =>
  client.create(ref, { metadata: { name: "cups", namespace: "tea" }, spec: { for: cup, ...spec } });

/** One run over the function as it is now; its status is written as the runtime does. */
async function run(parts: Partial<DeployRunContext> = {}) {
  const object = (await client.get(ref, cups)) ?? expect.fail("There is no such function.");
  const { metadata } = object;
  const noting = (word: string) => () => Promise.resolve(void done.push(word));
  const runContext = {
    client,
    functionRef: functionRefOf(object),
    cleanedGenerations: new Map<string, number>(),
    rotateEvery: 60_000,
    installation: undefined,
    absentParts: () => absent,
    now: () => new Date(now),
    permits: undefined,
    context: {
      key: cups,
      metadata,
      object,
      log: silentLog,
      signal: AbortSignal.timeout(30_000),
      spec: ReconcileFunction.spec.parse(object["spec"]),
      status: ReconcileFunction.status.parse(object["status"] ?? {}),
    },
    functionUsers: { grant: noting("grant"), revoke: noting("revoke") },
    queues: {
      load: () => Promise.resolve(load),
      open: () => ({ pause: noting("pause"), resume: noting("resume") }),
    },
    environment,
    ...parts,
  } as unknown as DeployRunContext;
  const result = await deploy(runContext);
  const { status } = result;
  await client.replace(ref, { ...object, status }, { subresource: "status" });
  return result;
}
/** Runs for as long as each asks for the next at once. */
async function runUntilDone(parts: Partial<DeployRunContext> = {}) {
  for (;;) {
    const result = await run(parts);
    if (!("requeueAfter" in result) || result.requeueAfter !== "1ms") return result;
  }
}
const namesOf = async (kind: typeof ref) =>
  (await listAll(client, kind, { namespace: "tea" })).map(({ metadata }) => metadata.name);
const podsNow = () => listAll(client, builtin.pod, { namespace: "tea" });
const setPodStatus = async (name: string, status: object) => {
  await client.patch(
    builtin.pod,
    podAt(name),
    { type: "merge", body: { status } },
    { subresource: "status" },
  );
};
const podAt = (name: string) => objectKey({ namespace: "tea", name });
const patchSpec = (spec: object) => client.patch(ref, cups, { type: "merge", body: { spec } });
const patchMetadata = (pod: string, metadata: object) =>
  client.patch(builtin.pod, podAt(pod), { type: "merge", body: { metadata } });
const hold = { finalizers: ["example.com/hold"] };
const setStatus = async (status: object) => {
  const object = (await client.get(ref, cups))!;
  await client.replace(ref, { ...object, status }, { subresource: "status" });
};
const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };

it("what is made for a function is in its status first: how it comes by its keys, then of which revision its Pods are", async () => {
  await create({ container: { image: "cups:1" } });
  expect((await run()).status.delivered).toBe("pull");
  expect([await namesOf(builtin.serviceAccount), await namesOf(builtin.secret), done]).toEqual([[], [], []]);
  const second = await run();
  expect([second.status.rollout?.revision, await podsNow()]).toEqual([1, []]);
  expect([await namesOf(builtin.serviceAccount), await namesOf(builtin.secret)]).toEqual([
    ["cups"],
    ["cups-redis"],
  ]);
  expect(done).toEqual(["grant"]);
  await run();
  expect((await podsNow()).map(({ metadata }) => metadata.annotations)).toMatchObject([
    { "drover.dev/revision": "1" },
  ]);
});

it("Pods and account have the labels and annotations of the spec, and lose those that it drops, but none of others", async () => {
  const labels = { "azure.workload.identity/use": "true" };
  const container = { image: "cups:1", labels, annotations: { "example.com/note": "a" } };
  const role = (arn: string) => ({ "eks.amazonaws.com/role-arn": arn });
  await create({ container: { ...container, serviceAccount: { annotations: { ...role("a"), more: "b" } } } });
  await runUntilDone();
  const [first] = await podsNow();
  expect(first?.metadata).toMatchObject({
    labels: { ...labels, "drover.dev/function": "cups" },
    annotations: { "example.com/note": "a", "drover.dev/revision": "1" },
  });
  const account = async () => (await client.get(builtin.serviceAccount, cups))?.metadata.annotations ?? {};
  expect(await account()).toMatchObject({ ...role("a"), more: "b" });
  const others = { metadata: { annotations: { "example.com/others": "c" } } };
  await client.patch(builtin.serviceAccount, cups, { type: "merge", body: others });
  await patchSpec({ container: { serviceAccount: { annotations: { ...role("z"), more: null } } } });
  await runUntilDone();
  expect(await account()).toEqual({
    ...role("z"),
    "drover.dev/annotations": "eks.amazonaws.com/role-arn",
    "example.com/others": "c",
  });
  await patchSpec({ container: { serviceAccount: null, labels: null } });
  await runUntilDone();
  expect(await account()).toEqual({ "example.com/others": "c" });
  expect((await podsNow()).map(({ metadata }) => metadata.annotations)).toContainEqual(
    expect.objectContaining({ "drover.dev/revision": "2" }),
  );
});

it.each(["labels", "annotations"])(
  "%s of Drover's own are refused, by the API server and by the deployer",
  async (field) => {
    const container = { image: "cups:1", [field]: { "drover.dev/function": "another" } };
    await expect(create({ container })).rejects.toThrow(/leave out names of drover\.dev/);
    const spec = { for: cup, container };
    expect(ReconcileFunction.spec.safeParse(spec).success).toBe(false);
  },
);

it("nothing is made for a function that is not permitted, nor for one with a contradictory spec", async () => {
  await create({ container: { image: "cups:1" } });
  const refused = new Error("refused");
  const permits = {
    namespace: "drover",
    records: { get: () => Promise.reject(refused) },
  } as unknown as DeployRunContext["permits"];
  await client.patch(ref, cups, {
    type: "merge",
    body: { metadata: { annotations: { "drover.dev/author": "ada" } } },
  });
  await expect(run({ permits })).rejects.toBe(refused);
  await patchSpec({ webhook: { url: "https://a.example.com" } });
  await expect(run()).rejects.toMatchObject({ reason: "InvalidSpec" });
  expect([await namesOf(builtin.serviceAccount), await namesOf(builtin.secret), done]).toEqual([[], [], []]);
});

it.each([
  ["asks for it", true, false, false, ["pause"]],
  ["asks for it, and it is so", true, true, true, []],
  ["does not ask for it any more", false, true, true, ["resume"]],
  ["never asked for it, and an operator did", false, true, false, []],
  ["does not ask for it, and is not paused", false, false, true, []],
])("a queue is paused where the spec %s", async (_, paused, allPaused, was, expected) => {
  await create({ paused });
  await setStatus({ paused: was });
  load = { ...idle, allPaused };
  expect((await run()).status).toMatchObject({ paused });
  expect(done).toEqual(expected);
});

describe("a function is looked at again", () => {
  it("every ten seconds while it has Pods, and not at all when it rests", async () => {
    await create({ container: { image: "cups:1" }, scaling: { idleAfter: "60s" } });
    await runUntilDone();
    expect(await run()).toMatchObject({ requeueAfter: "10000ms" });
    await setPodStatus((await podsNow())[0]?.metadata.name ?? "", ready);
    // Its container is tried; the Pod goes once it has been idle for long enough.
    expect(await runUntilDone()).toMatchObject({
      requeueAfter: "10000ms",
      status: { scaling: { wanted: 1 } },
    });
    now += 55_000;
    expect(await runUntilDone()).toMatchObject({ requeueAfter: "5000ms" });
    now += 5_000;
    await runUntilDone();
    expect(await podsNow()).toEqual([]);
    expect(await runUntilDone()).not.toHaveProperty("requeueAfter");
  });

  it.each([
    [{}, false],
    [{ due: 1 }, true],
    [{ running: 1 }, true],
    [{ parked: 1 }, false],
  ])("that runs outside of Drover with %j: %s", async (busy, isAgain) => {
    await create({});
    load = { ...idle, ...busy };
    expect("requeueAfter" in (await runUntilDone())).toBe(isAgain);
  });

  it("after half a minute where a namespace that it names is not there", async () => {
    await create({ owns: [{ ...cup, plural: "pots", namespaces: ["nowhere"] }] });
    expect(await runUntilDone()).toMatchObject({ requeueAfter: "30000ms" });
  });
});

it("its status counts the Pods that stay, and of them the Ready ones of its revision", async () => {
  await create({ container: { image: "cups:1" }, scaling: { min: 3 } });
  load = { ...idle, due: 4, running: 1, parked: 2, failing: 3, paused: 5, oldestDue: 7_900 };
  await runUntilDone();
  const [first = "", second = "", third = ""] = await namesOf(builtin.pod);
  await setPodStatus(first, ready);
  await patchMetadata(third, hold);
  await client.delete(builtin.pod, podAt(third));
  await patchMetadata(second, { annotations: { "drover.dev/revision": "0" } });
  await setPodStatus(second, ready);
  const { status } = await run();
  expect(status).toMatchObject({
    replicas: 2,
    readyReplicas: 1,
    selector: "drover.dev/function=cups",
    due: 4,
    running: 1,
    parked: 2,
    failing: 3,
    pausedKeys: 5,
    oldestDueSeconds: 7,
  });
  await patchMetadata(third, { finalizers: null });
});

it("a Pod that is labelled as the function's and is not controlled by it is neither counted nor taken away", async () => {
  const pod = (name: string, of: object) =>
    client.create(builtin.pod, {
      metadata: { ...ownedMetadata({ namespace: "tea", name: "cups", uid: "a former one" }), name, ...of },
      spec: { containers: [{ name: "a", image: "a" }] },
    });
  await pod("former", {});
  await pod("nobodys", { ownerReferences: [] });
  await create({ container: { image: "cups:1" } });
  load = { ...idle, allPaused: true };
  await runUntilDone();
  expect((await run()).status).toMatchObject({ replicas: 0, rollout: { revision: 1 } });
  expect((await podsNow()).filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toHaveLength(
    2,
  );
});

it("the bridge's fields in the function's status stay", async () => {
  await create({});
  const bridges = {
    problem: "Another one.",
    follows: { "cups.a.b": { state: "Degraded", reason: "Forbidden", message: "m" } },
  };
  await setStatus(bridges);
  expect((await run()).status).toMatchObject(bridges);
});

it("when a function's container is removed, the objects that its Pods need stay until the last Pod has gone", async () => {
  await create({
    container: { image: "cups:1" },
    permissions: { namespace: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
  });
  await runUntilDone();
  const [pod = ""] = await namesOf(builtin.pod);
  await patchMetadata(pod, hold);
  await patchSpec({ container: null });
  const left = () => Promise.all([builtin.serviceAccount, builtin.role, builtin.secret].map(namesOf));
  done = [];
  await runUntilDone();
  expect(await left()).toEqual([["cups"], ["cups"], ["cups-redis"]]);
  expect([await client.get(builtin.pod, podAt(pod)), done]).toEqual([
    expect.objectContaining({
      metadata: expect.objectContaining({ deletionTimestamp: expect.anything() as unknown }) as unknown,
    }) as unknown,
    [],
  ]);
  await patchMetadata(pod, { finalizers: null });
  const { status } = await runUntilDone();
  expect(await left()).toEqual([[], [], []]);
  expect([done, status.rollout, status.delivered]).toEqual([
    ["revoke"],
    { revision: 1, template: "" },
    undefined,
  ]);
});

it("a password is good for as long as a Pod that was started with it is there", async () => {
  await create({ container: { image: "cups:1" } });
  let accepted: readonly string[] = [];
  const functionUsers = {
    grant: (_home: unknown, _user: unknown, passwords: readonly string[]) =>
      Promise.resolve(void (accepted = passwords)),
    revoke: () => Promise.resolve(),
  } as unknown as DeployRunContext["functionUsers"];
  await runUntilDone({ functionUsers });
  const [older = ""] = await namesOf(builtin.pod);
  await setPodStatus(older, ready);
  await runUntilDone({ functionUsers });
  const [first] = accepted;
  expect(accepted).toEqual([first]);
  now += 60_000;
  load = { ...idle, due: 1 };
  await runUntilDone({ functionUsers });
  // The Pod with the next one starts; the one before works on.
  const names = await namesOf(builtin.pod);
  expect(names).toHaveLength(2);
  for (let runs = 0; runs < 3; runs++) await run({ functionUsers });
  expect(accepted).toEqual([expect.not.stringMatching(`^${first}$`), first]);
  await setPodStatus(names.find((name) => name !== older) ?? "", ready);
  await runUntilDone({ functionUsers });
  expect(await namesOf(builtin.pod)).not.toContain(older);
  await runUntilDone({ functionUsers });
  expect(accepted).toHaveLength(1);
  expect(accepted).not.toContain(first);
});

it("a function that is called, and runs elsewhere, has an account as which the gateway acts, and nothing to run", async () => {
  await create({ delivery: "webhook", webhook: { url: "https://a.example.com" } });
  await runUntilDone();
  expect(await namesOf(builtin.serviceAccount)).toEqual(["cups"]);
  expect(await namesOf(builtin.secret)).toEqual(["cups-webhook"]);
  expect([await namesOf(builtin.service), await podsNow(), done]).toEqual([[], [], []]);
});

it("reports the needed parts that do not run: the gateway only for delivery by webhook", async () => {
  absent = (["bridge", "gateway"] as const).map((part) => ({ part, namespace: "drover", since: undefined }));
  const types = async () => {
    const { conditions } = await runUntilDone();
    return conditions.map(({ type }) => type).filter((type) => type.endsWith("NotRunning"));
  };
  await create({});
  expect(await types()).toEqual(["BridgeNotRunning"]);
  await patchSpec({ delivery: "webhook", webhook: { url: "https://a.example.com" } });
  expect(await types()).toEqual(["BridgeNotRunning", "GatewayNotRunning"]);
});
