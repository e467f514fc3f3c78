import { type Log, RetryAfterError, silentLog } from "@drover/controller";
import type { KubeClient, ResourceRef } from "@drover/kube";
import { beforeEach, expect, it } from "vitest";
import { maintainEpoch, openAuthorGuards } from "./author-guards.ts";
import { authorPolicies, validating, validatingBinding } from "./author-policies.ts";

let objects: Map<string, { metadata: object; spec: unknown }>;
let now: number;
/** The policies as they were installed, `generation` times changed and put right again. */
const install = (generation: number): void => {
  const metadata = { uid: "u", generation };
  objects.set(validating.kind, { metadata, spec: authorPolicies.policy.spec });
  objects.set(validatingBinding.kind, { metadata, spec: authorPolicies.binding.spec });
};
const put = ({ kind }: ResourceRef, spec: unknown): Promise<object> => {
  objects.set(kind, { metadata: { uid: "e", resourceVersion: "1" }, spec });
  return Promise.resolve({});
};
const client = {
  get: (ref: ResourceRef) => Promise.resolve(objects.get(ref.kind)),
  create: (ref: ResourceRef, { spec }: { spec: unknown }) => put(ref, spec),
  patch: (ref: ResourceRef, _: string, { body }: { body: { spec: unknown } }) => put(ref, body.spec),
} as unknown as KubeClient;
beforeEach(() => {
  objects = new Map();
  now = 0;
  install(1);
});
const { signal } = new AbortController();

it("no epoch begins before every API server enforces the policies, and a new one when they were changed", async () => {
  const guards = openAuthorGuards(client, () => now);
  const refused = expect(guards.epoch(signal)).rejects;
  await refused.toMatchObject({ reason: "AuthorsUnguarded" });
  now += 4_999;
  await expect(guards.epoch(signal)).rejects.toThrow(RetryAfterError);
  now += 1;
  const first = await guards.epoch(signal);
  now += 60_000;
  expect(await guards.epoch(signal)).toBe(first);
  install(2);
  await expect(guards.epoch(signal)).rejects.toThrow(RetryAfterError);
  now += 4_999;
  await expect(guards.epoch(signal)).rejects.toThrow(RetryAfterError);
  now += 1;
  expect(await guards.epoch(signal)).not.toBe(first);
});

it("a deployer that starts goes on with the epoch that is there", async () => {
  const before = openAuthorGuards(client, () => now);
  await expect(before.epoch(signal)).rejects.toThrow(RetryAfterError);
  now += 5_000;
  const epoch = await before.epoch(signal);
  expect(await openAuthorGuards(client, () => 0).epoch(signal)).toBe(epoch);
});

const inForce = async () => {
  const guards = openAuthorGuards(client, () => now);
  await guards.epoch(signal).catch(() => undefined);
  now += 5_000;
  return { guards, epoch: await guards.epoch(signal) };
};
const change = (
  kind: string,
  changed: { readonly uid?: string; readonly generation?: number; readonly spec?: object },
) => {
  const { metadata, spec } = objects.get(kind) ?? expect.fail(`There is no ${kind}.`);
  const { spec: more, ...identity } = changed;
  objects.set(kind, { metadata: { ...metadata, ...identity }, spec: { ...(spec as object), ...more } });
};

it.each([validating.kind, validatingBinding.kind])(
  "while there is no %s authors are not known",
  async (kind) => {
    const { guards } = await inForce();
    objects.delete(kind);
    await expect(guards.epoch(signal)).rejects.toMatchObject({ reason: "AuthorsUnguarded" });
  },
);

it.each([
  [validating.kind, { failurePolicy: "Ignore" }],
  [validating.kind, { matchConditions: [] }],
  [validating.kind, { validations: undefined }],
  [validatingBinding.kind, { validationActions: ["Audit"] }],
  [validatingBinding.kind, { matchResources: {} }],
])(
  "while the %s is another one (%j) authors are not known, however long that has been so",
  async (kind, spec) => {
    const { guards } = await inForce();
    change(kind, { spec });
    now += 60_000;
    await expect(guards.epoch(signal)).rejects.toMatchObject({ reason: "AuthorsUnguarded" });
  },
);

it.each([validating.kind, validatingBinding.kind])(
  "a %s that was changed, or made again, and is as it should be begins a new epoch",
  async (kind) => {
    for (const changed of [{ generation: 9 }, { uid: "another" }]) {
      const { guards, epoch } = await inForce();
      change(kind, changed);
      await expect(guards.epoch(signal)).rejects.toThrow(/are new/);
      now += 5_000;
      expect(await guards.epoch(signal)).not.toBe(epoch);
    }
  },
);

it("an epoch that another writer has changed meanwhile is not overwritten", async () => {
  const { guards } = await inForce();
  change(validating.kind, { generation: 9 });
  await guards.epoch(signal).catch(() => undefined);
  now += 5_000;
  let patched: object | undefined;
  const noting = {
    ...client,
    patch: (_: unknown, __: unknown, { body }: { body: object }) => Promise.resolve((patched = body)),
  };
  const other = openAuthorGuards(noting as KubeClient, () => now);
  await other.epoch(signal).catch(() => undefined);
  now += 5_000;
  await other.epoch(signal);
  expect(patched).toMatchObject({ metadata: { uid: "e", resourceVersion: "1" } });
});

it("the epoch is kept from the start on, and each problem is logged once, until it changes", async () => {
  const warnings: unknown[] = [];
  const log: Log = { ...silentLog, warn: (fields) => warnings.push(fields) };
  const stopping = new AbortController();
  const answers = ["a", "a", "", "a", "b"];
  const asked: string[] = [];
  const guards = {
    epoch: () => {
      const problem = answers[asked.length] ?? "";
      asked.push(problem);
      if (asked.length === 7) stopping.abort();
      return problem === "" ? Promise.resolve("e") : Promise.reject(new Error(problem));
    },
  };
  await maintainEpoch(guards, { every: 1, log, signal: stopping.signal });
  expect(warnings).toEqual([{ problem: "a" }, { problem: "a" }, { problem: "b" }]);
  expect(asked).toHaveLength(7);
});
