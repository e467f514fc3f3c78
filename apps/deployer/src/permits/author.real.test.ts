import { customResourceDefinition, objectKey, ReconcileFunction, silentLog } from "@drover/controller";
import { connect, installCrd, type KubeClient, refOf } from "@drover/kube";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { authorOf } from "@drover/runtime";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openAuthorGuards } from "./author-guards.ts";
import { installedPolicies } from "./author-policies.ts";

const run = promisify(execFile);
const { signal } = new AbortController();
const ref = refOf(ReconcileFunction);
const own = "drover";
let cluster: RealCluster;
let client: KubeClient;

const kubectl = (...args: readonly string[]) => run(cluster.kubectl, args);
async function applied(objects: readonly object[], ...args: readonly string[]): Promise<string> {
  const child = run(cluster.kubectl, ["apply", "-f", "-", ...args]);
  child.child.stdin?.end(JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  return (await child).stdout;
}
/** Changes one of Drover's policies, or the binding of one. */
const patchPolicy = (kind: string, change: object) =>
  kubectl("patch", kind, "drover-authors", "--type=merge", "-p", JSON.stringify(change));
const as = (user: string) => ["--as", user, "--as-group", "makers", "--as-group", "system:authenticated"];

const named = (name: string, image = "one", annotations: object = {}) => ({
  apiVersion: ReconcileFunction.apiVersion,
  kind: ReconcileFunction.kind,
  metadata: { name, namespace: "default", annotations },
  spec: {
    for: { group: "batch", version: "v1", kind: "Job", plural: "jobs", scope: "Namespaced" },
    container: { image },
  },
});
async function metadataNow(name: string) {
  const object = await client.get(ref, objectKey({ namespace: "default", name }));
  return object?.metadata ?? expect.fail(`There is no ${name}.`);
}
const authorNow = async (name: string) => authorOf(await metadataNow(name));
const epochOf = async (name: string) => (await metadataNow(name)).annotations?.["drover.dev/author-epoch"];
/** A policy is in force a moment after it is there: until then every write is let through. */
const untilInForce = () =>
  vi.waitFor(
    async () => {
      await applied([named("probe", "one", { "drover.dev/author": "system:admin" })], ...as("alice"));
      const author = await authorNow("probe");
      await kubectl("delete", "reconcilefunctions", "probe");
      expect(author?.user).toBe("alice");
    },
    { timeout: 60_000 },
  );

let time = 0;
const openGuards = () => openAuthorGuards(client, () => time);
const later = (span: number): void => void (time += span);
/** The epoch once the policies count as being in force everywhere. */
const epochInForce = async (guards: ReturnType<typeof openGuards>) => {
  await guards.epoch(signal).catch(() => undefined);
  later(10_000);
  return guards.epoch(signal);
};
/** As people do it: a CRD is served a moment after it is there, and what follows it in the file is applied again. */
const install = () => vi.waitFor(() => applied(installedPolicies(own)), { timeout: 30_000 });

beforeAll(async () => {
  cluster = await startRealCluster();
  client = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test", log: silentLog });
  const { metadata, ...crd } = customResourceDefinition(ReconcileFunction);
  await installCrd(client, { ...crd, metadata });
  await kubectl("create", "namespace", own);
  await install();
  // As a deployer makes it when it starts; without it no function can be written.
  await epochInForce(openGuards());
  const verbs = "--verb=create,get,update,patch";
  const resources = "--resource=reconcilefunctions.drover.dev,reconcilefunctions.drover.dev/status";
  await kubectl("create", "role", "makers", verbs, resources);
  await kubectl("create", "rolebinding", "makers", "--role=makers", "--group=makers");
  await untilInForce();
}, 600_000);
afterAll(async () => {
  await client.close();
  await cluster.stop();
});

describe("the author of a function", () => {
  it("is the user who wrote its spec, whatever the user wrote", async () => {
    await applied([named("gadgets", "one", { "drover.dev/author": "system:admin" })], ...as("alice"));
    const groups = ["makers", "system:authenticated"];
    expect(await authorNow("gadgets")).toEqual({ user: "alice", groups });
    await applied([named("gadgets", "two")], ...as("bob"));
    expect((await authorNow("gadgets"))?.user).toBe("bob");
  });

  it("stays, unless the spec changes or it is asked for again", async () => {
    await applied([named("gadgets", "two")], ...as("bob"));
    for (const forged of [
      { "drover.dev/author": "system:admin" },
      { "drover.dev/author-groups": "system:masters" },
      { "drover.dev/author-epoch": "another" },
    ]) {
      const patch = JSON.stringify({ metadata: { annotations: forged } });
      await expect(
        kubectl("patch", "reconcilefunction", "gadgets", "--type=merge", "-p", patch, ...as("bob")),
      ).rejects.toThrow(/name the user who wrote this spec: you/);
    }
    await kubectl("label", "reconcilefunction", "gadgets", "seen=yes", ...as("carol"));
    expect((await authorNow("gadgets"))?.user).toBe("bob");
    await kubectl("annotate", "reconcilefunction", "gadgets", "drover.dev/ask=1", ...as("carol"));
    expect((await authorNow("gadgets"))?.user).toBe("carol");
  });

  it.each([
    ["devs\nsystem:masters", "a line break"],
    ["devs\\nsystem:masters", "a backslash"],
    ["\nsystem:masters\n", "line breaks at its ends"],
  ])("has the group %j and no other, for all its %s", async (group) => {
    const kubeconfig = await cluster.kubeconfigFor({ user: "eve", groups: ["makers", group] });
    const as = ["--kubeconfig", kubeconfig];
    await applied([named("gadgets", `of-${Buffer.from(group).toString("hex")}`)], ...as);
    const author = await authorNow("gadgets");
    expect(author?.groups).toContain(group);
    expect(author?.groups).not.toContain("system:masters");
  });
});

describe("the status of a function", () => {
  const stating = (user: string, status: object) =>
    kubectl(
      ...["patch", "reconcilefunction", "gadgets", "--subresource=status", "--type=merge"],
      ...["-p", JSON.stringify({ status }), "--as", user, "--as-group", "makers"],
    );

  it("is written by the deployer, and its own part by the bridge", async () => {
    await applied([named("gadgets", "status")], ...as("alice"));
    const bridge = "system:serviceaccount:drover:bridge";
    await stating("system:serviceaccount:drover:deployer", { delivered: "pull", replicas: 2 });
    await stating(bridge, { problem: "none", follows: {} });
    const condition = (type: string, message = "") => {
      const lastTransitionTime = "2026-01-01T00:00:00Z";
      return { type, status: "True", reason: "Why", message, lastTransitionTime };
    };
    const deployers = [condition("Ready"), condition("RolledOut")];
    await stating("system:serviceaccount:drover:deployer", { conditions: deployers });
    await stating(bridge, { conditions: [...deployers, condition("DeployerNotRunning", "since 1")] });
    await stating(bridge, { conditions: [condition("DeployerNotRunning", "since 2"), ...deployers] });
    await stating(bridge, { conditions: deployers });
    const refused = /is written by drover\/deployer/;
    await expect(stating(bridge, { delivered: "webhook" })).rejects.toThrow(refused);
    await expect(stating(bridge, { replicas: 3 })).rejects.toThrow(refused);
    for (const conditions of [
      [condition("Ready")],
      [condition("Ready", "mine"), condition("RolledOut")],
      [...deployers, condition("BridgeNotRunning")],
    ]) {
      await expect(stating(bridge, { conditions })).rejects.toThrow(refused);
    }
    await expect(stating("alice", { delivered: "webhook" })).rejects.toThrow(refused);
    await expect(stating("alice", { problem: "mine" })).rejects.toThrow(refused);
  });
});

describe("authors are not known", () => {
  it("before the policies are in force everywhere; from then on what is written carries the epoch", async () => {
    for (const failurePolicy of ["Ignore", "Fail"])
      await patchPolicy("validatingadmissionpolicy", { spec: { failurePolicy } });
    const guards = openGuards();
    await expect(guards.epoch(signal)).rejects.toThrow(/are new: they are in force within/);
    const epoch = await epochInForce(guards);
    await vi.waitFor(async () => {
      const ask = `drover.dev/ask=${Math.random()}`;
      await kubectl("annotate", "--overwrite", "reconcilefunction", "gadgets", ask, ...as("alice"));
      expect(await epochOf("gadgets")).toBe(epoch);
    }, 30_000);
    // Another deployer finds the same.
    expect(await openGuards().epoch(signal)).toBe(epoch);
  });

  const labelled = { matchLabels: { a: "b" } };
  it.each([
    ["validatingadmissionpolicybinding", { validationActions: ["Audit"] }],
    ["validatingadmissionpolicybinding", { matchResources: { namespaceSelector: labelled } }],
    [
      "validatingadmissionpolicy",
      { matchConditions: [{ name: "x", expression: "request.userInfo.username != 'mallory'" }] },
    ],
    ["validatingadmissionpolicy", { failurePolicy: "Ignore" }],
    ["validatingadmissionpolicy", { matchConstraints: { namespaceSelector: labelled } }],
  ])("while the %s is another one: %j", async (kind, change) => {
    const before = (await kubectl("get", kind, "drover-authors", "-o", "json")).stdout;
    const guards = openGuards();
    const epoch = await epochInForce(guards);
    await patchPolicy(kind, { spec: change });
    await expect(guards.epoch(signal)).rejects.toThrow(/is not as it should be: spec\./);
    const { spec } = JSON.parse(before) as { spec: object };
    const whole = JSON.stringify([{ op: "replace", path: "/spec", value: spec }]);
    await kubectl("patch", kind, "drover-authors", "--type=json", "-p", whole);
    later(10_000);
    // What was written meanwhile carries the epoch of before.
    expect(await epochInForce(guards)).not.toBe(epoch);
  });

  it("while a policy is absent, and writes from then are distinguished from later ones", async () => {
    const guards = openGuards();
    const epoch = await epochInForce(guards);
    await kubectl(
      "delete",
      "validatingadmissionpolicybinding,mutatingadmissionpolicybinding",
      "drover-authors",
    );
    await expect(guards.epoch(signal)).rejects.toThrow(
      /There is no ValidatingAdmissionPolicyBinding drover-authors/,
    );
    // Every write is let through once the API server has noticed; the forger copies the epoch of another function.
    const forged = {
      "drover.dev/author": "system:admin",
      "drover.dev/author-groups": "system:masters",
      "drover.dev/author-epoch": epoch,
    };
    await vi.waitFor(
      async () => {
        await applied([named("forged", String(Math.random()), forged)], ...as("mallory"));
        expect((await authorNow("forged"))?.user).toBe("system:admin");
      },
      { timeout: 30_000 },
    );
    await install();
    await untilInForce();
    expect(await authorNow("forged")).toEqual({ user: "system:admin", groups: ["system:masters"] });
    expect(await epochOf("forged")).not.toBe(await epochInForce(guards));
  });

  it("without an epoch: no function can be written until a deployer has made one", async () => {
    await kubectl("delete", "authorepoch", "authors");
    const write = () => applied([named("unguarded", String(Math.random()))], ...as("alice"));
    await vi.waitFor(() => expect(write()).rejects.toThrow(/no params found/), { timeout: 30_000 });
    const epoch = await epochInForce(openGuards());
    await vi.waitFor(write, { timeout: 30_000 });
    await vi.waitFor(async () => {
      await write();
      expect(await epochOf("unguarded")).toBe(epoch);
    }, 30_000);
  });
});
