import {
  customResourceDefinition,
  neededAccess,
  objectKey,
  ReconcileFunction,
  silentLog,
} from "@drover/controller";
import { connect, installCrd, type KubeClient, refOf } from "@drover/kube";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { authorOf } from "@drover/runtime";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { refuseUnlessHeld } from "./author.ts";
import { authorPolicies, refuseUnlessGuarded } from "./author-policy.ts";

const run = promisify(execFile);
const { signal } = new AbortController();
const ref = refOf(ReconcileFunction);
let cluster: RealCluster;
let client: KubeClient;

const kubectl = (...args: readonly string[]) => run(cluster.kubectl, args);
async function applied(objects: readonly object[], ...args: readonly string[]): Promise<string> {
  const child = run(cluster.kubectl, ["apply", "-f", "-", ...args]);
  child.child.stdin?.end(JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  return (await child).stdout;
}
const as = (user: string) => ["--as", user, "--as-group", "makers", "--as-group", "system:authenticated"];

const named = (name: string, image = "one", annotations: object = {}) => ({
  apiVersion: ReconcileFunction.apiVersion,
  kind: ReconcileFunction.kind,
  metadata: { name, namespace: "default", annotations },
  spec: {
    for: { group: "batch", version: "v1", kind: "Job", plural: "jobs", scope: "Namespaced" },
    container: { image },
    permissions: {
      namespace: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] }],
      cluster: [{ apiGroups: ["apps"], resources: ["deployments/scale"], verbs: ["patch"] }],
    },
  },
});
async function authorNow(name: string) {
  const object = await client.get(ref, objectKey({ namespace: "default", name }));
  if (object === undefined) throw new Error(`There is no ${name}.`);
  return object.metadata;
}

beforeAll(async () => {
  cluster = await startRealCluster();
  client = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test", log: silentLog });
  const { metadata, ...crd } = customResourceDefinition(ReconcileFunction);
  await installCrd(client, { ...crd, metadata });
  await applied(authorPolicies);
  const verbs = "--verb=create,get,update,patch";
  await kubectl("create", "role", "makers", verbs, "--resource=reconcilefunctions.drover.dev");
  await kubectl("create", "rolebinding", "makers", "--role=makers", "--group=makers");
  // A policy is in force a moment after it is there: until then, everything goes.
  const forged = named("probe", "one", { "drover.dev/author": "system:admin" });
  const isInForce = async (): Promise<void> => {
    await applied([forged], ...as("alice"));
    const { annotations } = await authorNow("probe");
    await kubectl("delete", "reconcilefunctions", "probe");
    expect(annotations?.["drover.dev/author"]).toBe("alice");
  };
  await vi.waitFor(isInForce, { timeout: 60_000 });
}, 600_000);
afterAll(async () => {
  await client.close();
  await cluster.stop();
});

it("whoever writes a spec is its author, whatever they say", async () => {
  await applied([named("gadgets", "one", { "drover.dev/author": "system:admin" })], ...as("alice"));
  expect(authorOf(await authorNow("gadgets"))).toEqual({
    user: "alice",
    groups: ["makers", "system:authenticated"],
  });
  await applied([named("gadgets", "two")], ...as("bob"));
  expect(authorOf(await authorNow("gadgets")).user).toBe("bob");
});

it("nobody makes another one the author of what is there", async () => {
  await applied([named("gadgets", "two")], ...as("bob"));
  const forged = `{"metadata":{"annotations":{"drover.dev/author":"system:admin"}}}`;
  await expect(
    kubectl("patch", "reconcilefunction", "gadgets", "--type=merge", "-p", forged, ...as("bob")),
  ).rejects.toThrow(/say who wrote this spec: you/);
  const groups = `{"metadata":{"annotations":{"drover.dev/author-groups":"system:masters"}}}`;
  await expect(
    kubectl("patch", "reconcilefunction", "gadgets", "--type=merge", "-p", groups, ...as("bob")),
  ).rejects.toThrow(/say who wrote this spec: you/);
});

it("a function is refused until its author may do all that it may do", async () => {
  await applied([named("gadgets", "three")], ...as("alice"));
  const held = async () => {
    const metadata = await authorNow("gadgets");
    const spec = ReconcileFunction.spec.parse(named("gadgets", "three").spec);
    await refuseUnlessHeld(client, { metadata, needed: neededAccess(spec, "default") }, signal);
  };
  const grant = (kind: string, name: string, verb: string, resource: string) =>
    kubectl("create", kind, name, `--verb=${verb}`, `--resource=${resource}`).then(() =>
      kubectl("create", `${kind}binding`, name, `--${kind}=${name}`, "--user=alice"),
    );
  await expect(held()).rejects.toThrow(
    /alice asks for this function, and may not list jobs of batch in all namespaces/,
  );
  await grant("clusterrole", "sees", "list,watch", "jobs.batch");
  await expect
    .poll(() => held().catch(String), { timeout: 10_000 })
    .toMatch(/may not get configmaps in namespace default/);
  await grant("role", "maps", "get,list", "configmaps");
  await expect
    .poll(() => held().catch(String), { timeout: 10_000 })
    .toMatch(/may not patch deployments\/scale of apps in all namespaces/);
  await grant("role", "pods", "create", "pods");
  await grant("clusterrole", "scales", "patch", "deployments.apps/scale");
  await expect.poll(() => held().catch(String), { timeout: 10_000 }).toBeUndefined();
});

it("nothing is believed while nothing keeps the annotations safe", async () => {
  await refuseUnlessGuarded(client, signal);
  await kubectl("delete", "validatingadmissionpolicybinding", "drover-authors");
  await expect(refuseUnlessGuarded(client, signal)).rejects.toThrow(
    /nobody can say who asks for this function/,
  );
  await applied(authorPolicies);
  await refuseUnlessGuarded(client, signal);
});
