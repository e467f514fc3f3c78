import { RetryAfterError } from "@drover/controller";
import type { KubeClient, ResourceRef } from "@drover/kube";
import { beforeEach, expect, it } from "vitest";
import { openAuthorGuards } from "./author-guards.ts";
import { authorGuards, validating, validatingBinding } from "./author-policies.ts";

let objects: Map<string, { metadata: object; spec: unknown }>;
let now: number;
/** The policies as they were installed, `generation` times changed and put right again. */
const install = (generation: number): void => {
  const metadata = { uid: "u", generation };
  objects.set(validating.kind, { metadata, spec: authorGuards.policy.spec });
  objects.set(validatingBinding.kind, { metadata, spec: authorGuards.binding.spec });
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
