import droverPackage from "drover/package.json" with { type: "json" };
import { afterAll, expect, it, vi } from "vitest";
import { spawnDrover } from "../../../apps/cli/src/testing/run-command.ts";
import { coreKind } from "../../harness/manifests.ts";
import { makeAuthor } from "../../attacks/rights/function-of.ts";
import { startInstallation } from "../../attacks/installation.ts";

const ada = { user: "ada" };
/** What Ada holds, and her functions get. */
const inCluster = [{ apiGroups: [""], resources: ["nodes"], verbs: ["list"] }];
const inTea = [{ apiGroups: [""], resources: ["services"], verbs: ["get"] }];

for (const variable of ["DROVER_TEST_CLUSTER", "DROVER_KUBECTL"]) vi.stubEnv(variable, undefined);
const drover = await startInstallation(console.log);
afterAll(() => drover.stop());
await drover.namespace("tea");
await drover.namespace("coffee");
await makeAuthor(drover, ada, "tea");
await drover.grant(ada, inCluster);
// The permissions that a called function needs.
const called = ["configmaps", "configmaps/status"];
await drover.grant(ada, [
  { apiGroups: ["", "events.k8s.io"], resources: [...called, "events"], verbs: ["*"] },
]);
await drover.grant(ada, inTea, "tea");
const as = await drover.kubeconfigOf(ada);

const forConfigMaps = (more: object = {}) => coreKind("ConfigMap", more);
const functionOf = (name: string, spec: object) => ({
  apiVersion: "drover.dev/v1alpha1",
  kind: "ReconcileFunction",
  metadata: { name, namespace: "tea" },
  spec: { container: { image: `${name}:1` }, permissions: { cluster: inCluster, namespace: inTea }, ...spec },
});
const functions = [
  functionOf("cups", { for: forConfigMaps({ namespaces: ["tea", "coffee"] }) }),
  functionOf("pots", { for: forConfigMaps(), delivery: "webhook" }),
];
const deployed = async (): Promise<void> => {
  await drover.apply(functions, { as });
  for (const { metadata } of functions) {
    await drover.permitted("tea", metadata.name, as);
    await drover.until(`${metadata.name} has its rights`, () => may(metadata.name, "list", "nodes"));
  }
};
const may = (account: string, verb: string, resource: string, namespace?: string, home = "tea") =>
  drover.may({ user: `system:serviceaccount:${home}:${account}` }, verb, resource, namespace);
/** Bindings that name an account of Drover or of a function, as kubectl lists them. */
async function bindings(): Promise<readonly string[]> {
  const list = await drover.kubectl(["get", "clusterrolebindings,rolebindings", "-A", "-o", "json"]);
  interface Binding {
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace?: string };
    readonly subjects?: readonly { readonly kind: string; readonly namespace?: string }[];
  }
  return (JSON.parse(list) as { items: readonly Binding[] }).items
    .filter(({ subjects = [] }) =>
      subjects.some(
        ({ kind, namespace = "" }) => kind === "ServiceAccount" && ["drover", "tea"].includes(namespace),
      ),
    )
    .map(({ kind, metadata: { namespace = "", name } }) => `${kind} ${namespace} ${name}`);
}

/** The findings of `drover doctor`, those of functions left out: no kubelet runs their Pods. */
async function findings(kubeconfig: string): Promise<readonly string[]> {
  const { stdout, stderr } = await spawnDrover(["doctor", "-o", "json"], { env: { KUBECONFIG: kubeconfig } });
  expect(stderr).toBe("");
  return (JSON.parse(stdout) as readonly Record<"level" | "subject" | "message", string>[])
    .filter(({ subject }) => !subject.startsWith("function "))
    .map(({ level, subject, message }) => `${level} ${subject}: ${message}`);
}

it("drover doctor finds nothing wrong with an installation, and names what a user may not read", async () => {
  const env = { KUBECONFIG: drover.cluster.kubeconfig };
  // Parts that have just started write their Leases, and the deployer looks at the policies.
  await drover.until("drover doctor finds nothing", async () => {
    const { code } = await spawnDrover(["doctor"], { env });
    return code === 0;
  });
  await deployed();
  await drover.until("the gateway runs", async () =>
    (await findings(drover.cluster.kubeconfig)).includes(
      `ok parts: bridge, deployer, gateway run in ${droverPackage.version}`,
    ),
  );
  expect(await findings(drover.cluster.kubeconfig)).toEqual([
    expect.stringMatching(/^ok API server: v1\.\d+\.\d+/),
    "ok admission policies: installed, and accepted by the deployer",
    `ok parts: bridge, deployer, gateway run in ${droverPackage.version}`,
    expect.stringMatching(/^ok finalizers: /),
  ]);
  const lines = await findings(as);
  expect(lines.filter((line) => line.startsWith("unknown "))).toEqual([
    expect.stringMatching(/^unknown functions: .* cannot list resource "reconcilefunctions"/),
    expect.stringMatching(/^unknown admission policies: .* cannot get resource /),
    expect.stringMatching(/^unknown parts: You may not read Leases /),
    expect.stringMatching(/^unknown Secret drover\/valkey-tls: .* cannot get resource "secrets"/),
    expect.stringMatching(/^unknown finalizers: .* cannot list resource "customresourcedefinitions"/),
  ]);
}, 300_000);

it("the namespace of Drover goes before the functions, and with it every binding; functions can be removed", async () => {
  await deployed();
  expect((await bindings()).length).toBeGreaterThan(8);
  expect(await may("bridge", "watch", "configmaps", "coffee", "drover")).toBe(true);
  expect(await may("cups", "get", "services", "tea")).toBe(true);

  // The Pods of a namespace are killed with it.
  await drover.killParts();
  await drover.kubectl(["delete", "namespace", "drover", "--timeout=60s"]);
  const { code } = await spawnDrover(["doctor"], { env: { KUBECONFIG: drover.cluster.kubeconfig } });
  expect(code).toBe(1);
  expect((await findings(drover.cluster.kubeconfig)).filter((line) => line.startsWith("problem "))).toEqual(
    ["bridge", "deployer", "gateway"].map(
      (part) => expect.stringMatching(`^problem parts: .*${part}`) as unknown,
    ),
  );
  await drover.until("no binding is left", async () => (await bindings()).length === 0);
  for (const [account, verb, resource, home] of [
    ["cups", "list", "nodes", "tea"],
    ["cups", "get", "services", "tea"],
    ["pots", "get", "configmaps", "tea"],
    ["bridge", "watch", "configmaps", "drover"],
    ["deployer", "escalate", "clusterroles", "drover"],
    ["gateway", "create", "tokenreviews", "drover"],
  ] as const) {
    expect([account, resource, await may(account, verb, resource, "tea", home)]).toEqual([
      account,
      resource,
      false,
    ]);
  }

  // Without a deployer, a user with write access to the function can remove the finalizer.
  await drover.kubectl(["delete", "rf", "cups", "-n", "tea", "--wait=false"], { as });
  const patch = JSON.stringify({ metadata: { finalizers: null } });
  await drover.kubectl(["patch", "rf", "cups", "-n", "tea", "--type=merge", "-p", patch], { as });
  await drover.until("the function is gone", async () => {
    const left = await drover.kubectl(["get", "rf", "-n", "tea", "-o", "name"]);
    return left.trim() === "reconcilefunction.drover.dev/pots";
  });
}, 300_000);

it("installed again, it takes up what is there, and functions of the same names", async () => {
  await drover.install();
  await deployed();
  expect((await bindings()).length).toBeGreaterThan(8);
  for (const { metadata } of functions) {
    const { reason } = await drover.judged("tea", metadata.name);
    expect(["NoPodReady", "Running"]).toContain(reason);
  }
}, 300_000);

it("a function recovers by itself once the name that it needs is free", async () => {
  const taken = { ...functionOf("mugs", { for: forConfigMaps({ namespaces: ["tea"] }) }) };
  const metadata = { name: "mugs", namespace: "tea" };
  await drover.apply([{ apiVersion: "v1", kind: "ServiceAccount", metadata }]);
  await drover.apply([taken], { as });
  await drover.permitted("tea", "mugs", as);
  await drover.until("the name is taken", async () => {
    const { reason } = await drover.judged("tea", "mugs");
    return reason === "NameTaken";
  });
  await drover.kubectl(["delete", "serviceaccount", "mugs", "-n", "tea"]);
  await drover.until("it heals", async () => {
    const { reason } = await drover.judged("tea", "mugs");
    return reason !== "NameTaken";
  });
  expect(await may("mugs", "list", "nodes")).toBe(true);
}, 300_000);
