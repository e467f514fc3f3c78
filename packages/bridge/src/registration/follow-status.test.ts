import {
  type CampaignProgress,
  type Condition,
  ReconcileFunction,
  silentLog,
  type StatusCondition,
} from "@drover/controller";
import { builtin, keyOf, type KubeObject, refOf, type ResourceRef } from "@drover/kube";
import { type AbsentPart, conditionsOf } from "@drover/runtime";
import { beforeEach, expect, it } from "vitest";
import { sandboxOfFile } from "../../../testing/src/sandbox.fixture.ts";
import type { FollowedStream } from "../streams/follow-stream.ts";
import type { QueueLag } from "../queues/queue-delivery.ts";
import type { Registration } from "./registration.ts";
import { type FollowStatusOptions, writeFollowStatus } from "./follow-status.ts";

const { sandbox, client } = await sandboxOfFile({ kinds: [ReconcileFunction] });

const ref = refOf(ReconcileFunction);
const type = "DeployerNotRunning";
let object: KubeObject;
let made = 0;

const now = async (): Promise<KubeObject> => {
  const found = await client.get(ref, keyOf(object));
  if (found === undefined) throw new Error("The function is gone.");
  return found;
};
/** Writes conditions as the deployer does. */
const write = (conditions: readonly Condition[]): Promise<KubeObject> => {
  const body = { status: { conditions } };
  return client.patch(ref, keyOf(object), { type: "merge", body }, { subresource: "status" });
};
const ready: StatusCondition = {
  type: "Ready",
  status: "True",
  reason: "Running",
  message: "1 of 1 Pods are Ready.",
  observedGeneration: 1,
  lastTransitionTime: "2026-01-01T00:00:00Z",
};
beforeEach(async () => {
  object = await client.create(ref, {
    metadata: { name: `cups-${made++}`, namespace: "default" },
    spec: { for: { group: "a.b", version: "v1", kind: "Cup", plural: "cups", scope: "Namespaced" } },
  });
  object = await write([ready]);
});

/** Writes the status of an object, for a bridge without streams and campaigns unless given. Logs no warnings. */
async function writeStatus(
  of: KubeObject,
  bridge: Partial<FollowStatusOptions["bridge"]>,
  more: Partial<FollowStatusOptions["functions"][number]> = {},
  deployer?: FollowStatusOptions["deployer"],
): Promise<void> {
  const warnings: unknown[] = [];
  await writeFollowStatus({
    client,
    functions: [{ key: keyOf(of), object: of, ...more }],
    bridge: {
      followed: () => [],
      campaigns: () => new Map(),
      unresponsiveQueues: () => new Map(),
      ...bridge,
    },
    deployer,
    log: { ...silentLog, warn: (...entry: unknown[]) => void warnings.push(entry) },
  });
  expect(warnings).toEqual([]);
}

/** Writes the status as a bridge that last read this version of the object. @returns the conditions afterwards. */
const conditionsAfter = async (
  of: KubeObject,
  deployer: Partial<AbsentPart> | "runs" | undefined,
): Promise<readonly StatusCondition[]> => {
  await writeStatus(
    of,
    {},
    {},
    typeof deployer !== "object"
      ? deployer
      : { part: "deployer", namespace: "drover", since: undefined, ...deployer },
  );
  return conditionsOf(await now());
};
const absentOf = (conditions: readonly StatusCondition[]) => conditions.find((one) => one.type === type);

it("a missing deployer is reported beside the other conditions, until one runs", async () => {
  const alone = await conditionsAfter(object, {});
  expect(alone).toEqual([ready, expect.objectContaining({ type, status: "True" })]);
  expect(await conditionsAfter(await now(), "runs")).toEqual([ready]);
});

it("a bridge that has just started removes no condition that another bridge wrote", async () => {
  const alone = await conditionsAfter(object, {});
  expect(await conditionsAfter(await now(), undefined)).toEqual(alone);
});

it("an unchanged status is not written again", async () => {
  await conditionsAfter(object, {});
  const before = await now();
  await conditionsAfter(before, {});
  expect(await now()).toEqual(before);
});

it("a later deployer that has ended is reported with the transition time of the first", async () => {
  await conditionsAfter(object, { since: "2026-01-01T00:00:00Z" });
  await write(
    conditionsOf(await now()).map((one) => ({ ...one, lastTransitionTime: "2026-01-02T00:00:00Z" })),
  );
  const { message, lastTransitionTime } =
    absentOf(await conditionsAfter(await now(), { since: "2026-03-01T00:00:00Z" })) ?? {};
  expect(message).toMatch(/has run since 2026-03-01T00:00:00Z/);
  expect(lastTransitionTime).toBe("2026-01-02T00:00:00Z");
});

it.each([["Other."], [undefined]])(
  "an opposite condition with the message %s is corrected, and gets a new transition time",
  async (message) => {
    const [, alone] = await conditionsAfter(object, {});
    const before = {
      ...(alone ?? ready),
      status: "False" as const,
      lastTransitionTime: "2026-01-02T00:00:00Z",
    };
    await write([ready, { ...before, ...(message !== undefined && { message }) }]);
    const { status, lastTransitionTime } = absentOf(await conditionsAfter(await now(), {})) ?? {};
    expect(status).toBe("True");
    expect(lastTransitionTime).not.toBe("2026-01-02T00:00:00Z");
  },
);

it("conditions that a deployer writes meanwhile stay, and the next write keeps them", async () => {
  const older = object;
  const news = { ...ready, status: "False" as const, reason: "NoPodReady" };
  await write([news]);
  expect(await conditionsAfter(older, {})).toEqual([news]);
  expect(absentOf(await conditionsAfter(await now(), {}))).toBeDefined();
});

it("a bridge replaces all of its own status fields, and writes nothing if they are unchanged", async () => {
  const campaign = (name: string, more: Partial<CampaignProgress>): CampaignProgress => ({
    name,
    state: "Running",
    startedAt: "2026-01-01T00:00:00Z",
    total: 5,
    left: 5,
    ...more,
  });
  const registration = { controller: "cups", follows: [] } as unknown as Registration;
  let writes = 0;
  const heal = sandbox.faults.respond(({ method }) => {
    if (method !== "GET") writes++;
    return undefined;
  });
  for (const [progress, problem] of [
    [campaign("one", {}), undefined],
    [campaign("one", { state: "Done", doneAt: "2026-01-01T00:01:00Z", left: 0 }), "its CRD is missing"],
    [campaign("two", { startedAt: "2026-01-02T00:00:00Z" }), undefined],
  ] as const) {
    const state = async (): Promise<void> => {
      await writeStatus(
        await now(),
        { campaigns: () => new Map([["cups", progress]]) },
        { registration, ...(problem !== undefined && { problem }) },
      );
    };
    await state();
    const status = (await now())["status"] as Record<string, unknown>;
    expect([status["campaign"], status["problem"]]).toEqual([progress, problem]);
    writes = 0;
    await state();
    expect(writes).toBe(0);
  }
  heal();
});

it("a kind with several streams has their worst state, with what to do, without other functions' streams", async () => {
  type Status = Partial<ReturnType<FollowedStream["reflector"]["status"]>>;
  const stream = (
    kind: ResourceRef,
    status: Status,
    lag?: QueueLag,
    controller = "cups",
  ): FollowedStream => ({
    plan: {
      stream: "s",
      ref: kind,
      namespace: undefined,
      labelSelector: undefined,
      subscriberSet: { scope: "", listeners: [], queues: [] },
      subscribers: [
        { controller, queue: "names", subscription: { id: "i", for: kind, map: { by: "self" } } },
      ],
    },
    reflector: {
      status: () => status as ReturnType<FollowedStream["reflector"]["status"]>,
      done: Promise.resolve(),
    },
    counts: { wakes: 0, events: 0, missed: 0 },
    lags: () => (lag === undefined ? [] : [lag]),
    stop: () => Promise.resolve(),
  });
  const { pod, node, secret, configMap, service } = builtin;
  const following: Status = { synced: true, degraded: undefined };
  const forbidden = { kind: "refused", reason: "Forbidden", message: "It may not." } as const;
  const lag = { queue: "names", since: 0, why: "No." };
  const follows = [{ ref: service, queue: "names" }, { ref: pod }];
  const registration = { controller: "cups", follows } as unknown as Registration;
  const followed = [
    stream(pod, following),
    stream(pod, { ...following, synced: false }),
    stream(node, { ...following, degraded: forbidden }),
    stream(node, following),
    stream(secret, following, lag),
    stream(secret, following, { ...lag, queue: "another" }),
    stream(configMap, following, { ...lag, queue: "another" }),
    stream(builtin.lease, following, lag, "saucers"),
  ];
  const silent = new Map([["names", "It is away."]]);
  await writeStatus(object, { followed: () => followed, unresponsiveQueues: () => silent }, { registration });
  expect((await now())["status"]).toMatchObject({
    follows: {
      pods: { state: "Listing", reason: "NotListedYet" },
      nodes: {
        state: "Degraded",
        reason: "Forbidden",
        message: expect.stringContaining("It may not.") as string,
      },
      secrets: { state: "Degraded", reason: "QueueBehind" },
      configmaps: { state: "Following", reason: "Watching" },
      services: { state: "Degraded", reason: "QueueSilent" },
    },
  });
  expect((await now())["status"]).not.toHaveProperty(["follows", "leases.coordination.k8s.io"]);
});
