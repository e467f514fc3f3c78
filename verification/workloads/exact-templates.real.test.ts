import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { startRealCluster } from "@drover/real-cluster";
import { expect, it, vi } from "vitest";
import { oursOfFile } from "./ours.fixture.ts";

// Integers that are equal as doubles, in the template of a Deployment: kubectl writes them, and prints the stored ones.

const { cluster } = await oursOfFile(startRealCluster());

const run = promisify(execFile);
const kubectl = async (...words: string[]): Promise<string> =>
  (await run(cluster.kubectl, words, { maxBuffer: 2 ** 24 })).stdout;
/** All that objects of a kind ask for, by field. */
const valuesOf = async (kind: string, field: string): Promise<readonly string[]> => {
  const text = await kubectl("get", kind, "-o", "json", "--show-managed-fields=false");
  return [
    ...new Set([...text.matchAll(new RegExp(`"${field}": (.*?),?\\n`, "g"))].map(([, value]) => value ?? "")),
  ];
};
const becomes = (kind: string, field: string, ...values: string[]): Promise<void> =>
  vi.waitFor(async () => expect((await valuesOf(kind, field)).toSorted()).toEqual(values), {
    timeout: 100_000,
    interval: 200,
  });

it("a Deployment's pods have the integers that it asks for", { timeout: 300_000 }, async () => {
  const grace = "terminationGracePeriodSeconds";
  const tolerations = `[{"operator":"Exists","effect":"NoExecute","tolerationSeconds":9223372036854775807}]`;
  const pod = (seconds: string): string =>
    `{"${grace}":${seconds},"tolerations":${tolerations},"containers":[{"name":"web","image":"web:1"}]}`;
  const template = (seconds: string): string =>
    `{"metadata":{"labels":{"app":"web"}},"spec":${pod(seconds)}}`;
  const patch = (seconds: string): Promise<string> =>
    kubectl("patch", "deployment/web", "--type=merge", "-p", `{"spec":{"template":${template(seconds)}}}`);

  await kubectl("create", "deployment", "web", "--image=web:1", "--replicas=0");
  await patch("9007199254740992");
  await becomes("replicasets", grace, "30", "9007199254740992");
  // The same number to a double: no other template, and no other set.
  await patch("9007199254740993");
  await becomes("replicasets", grace, "30", "9007199254740992", "9007199254740993");
  expect(await valuesOf("replicasets", "tolerationSeconds")).toEqual(["9223372036854775807"]);
  await kubectl("scale", "deployment/web", "--replicas=2");
  await becomes("pods", grace, "9007199254740993");
  expect(await valuesOf("pods", "tolerationSeconds")).toContain("9223372036854775807");
  expect((await kubectl("get", "replicasets", "-o", "name")).trim().split("\n")).toHaveLength(3);

  // Names are made of the templates: no two sets wanted the same.
  expect(await kubectl("get", "deployment/web", "-o", "json")).not.toContain("collisionCount");

  // A rollback finds the older set by its template.
  await kubectl("rollout", "undo", "deployment/web");
  await vi.waitFor(
    async () =>
      expect(await kubectl("get", "deployment/web", "-o", "json")).toContain(`"${grace}": 9007199254740992`),
    { timeout: 100_000, interval: 200 },
  );
  expect((await kubectl("get", "replicasets", "-o", "name")).trim().split("\n")).toHaveLength(3);
});
