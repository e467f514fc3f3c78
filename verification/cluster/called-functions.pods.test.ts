import { customResourceDefinition, defineController, reconcileFunctionOf } from "@drover/controller";
import { afterAll, expect, it } from "vitest";
import { z } from "zod";
import { Greeting } from "../../examples/typescript/greeting.ts";
import { object } from "../harness/manifests.ts";
import { gateway, home, startDeployerInPods } from "./deployer-in-pods.ts";
import { allowPrometheus, readMetrics } from "./read-metrics.ts";
import { allowedBy, rulesIn, usedBy } from "./needed-rules.ts";
import { observedFunctions } from "./observed-functions.ts";
import { eventually } from "./pod-cluster.ts";

const drover = await startDeployerInPods();
afterAll(() => drover.stop());
const functions = observedFunctions(drover);
await drover.push({ of: "greetings", entry: "examples/typescript/main.ts", as: "example/greetings:1" });
await drover.apply({ ...customResourceDefinition(Greeting) });
await drover.wait("condition=Established", "crd/greetings.examples.drover.dev");

const name = "greetings.examples.drover.dev";
const called = () => {
  const controller = defineController({ for: Greeting, reconcile: () => Promise.resolve(undefined) });
  const manifest = reconcileFunctionOf(controller, {
    container: { image: "example/greetings:1" },
    scaling: { max: 2, idleAfter: "5s" },
  });
  return {
    ...manifest,
    spec: { ...manifest.spec, delivery: "webhook", webhook: { finalizes: true } },
  };
};
const greeting = (greeted: string, spec: object = {}) =>
  object(Greeting, greeted, { name: greeted, ...spec }, home);
const textSchema = z.object({ status: z.object({ text: z.string() }) });
const waitFor = (condition: string, ...objects: readonly string[]) =>
  drover.wait(condition, `--namespace=${home}`, ...objects);

it("a function that is called is tried, comes from nothing, and does its work without cluster or Redis", async () => {
  await drover.applyAs(undefined, called());
  await waitFor("condition=RolledOut", `reconcilefunction/${name}`);
  await eventually(async () => expect(await functions.podsOf(name)).toEqual([]));
  const asked = Date.now();
  await drover.applyAs(undefined, greeting("ada"));
  await waitFor("condition=Ready", "greeting/ada");
  console.log(`Ready ${Date.now() - asked} ms after the first object was written, from no Pod`);
  expect(await drover.read(["greeting", "ada"], textSchema)).toMatchObject({
    status: { text: "Hello, ada!" },
  });
  const account = z.object({
    items: z.array(z.object({ spec: z.object({ automountServiceAccountToken: z.literal(false) }) })),
  });
  await drover.read(["pods", "-l", `drover.dev/function=${name}`], account);
  expect(await drover.usersOf(name)).toEqual([]);
});

it("its Pods let the gateway in, and its words are the object's", async () => {
  await drover.applyAs(undefined, greeting("bob", { refuse: true }));
  await waitFor("jsonpath={.status.conditions[?(@.type=='Ready')].reason}=NoGreeting", "greeting/bob");
  // A repeated Event increments its count.
  await drover.applyAs(undefined, greeting("bob", { refuse: true, wait: 1 }));
  await waitFor("jsonpath={.status.observedGeneration}=2", "greeting/bob");
  await drover.applyAs(undefined, greeting("bob"));
  await waitFor("condition=Ready", "greeting/bob");
});

it("a called function that is scaled to zero starts again to finalize its objects", async () => {
  await eventually(async () => expect(await functions.podsOf(name)).toEqual([]));
  await drover.kubectl(["delete", "greetings", "--all", "-n", home, "--timeout=100s"]);
});

it("the gateway shows metrics to accounts that may read them, and to no others", async () => {
  await allowPrometheus(drover);
  await eventually(async () =>
    expect(await readMetrics(drover, "gateway")).toEqual({ reader: 200, stranger: 403 }),
  );
});

it("the gateway needs each thing that it may do, and may read no other Secret", async () => {
  // A watch is noted when it ends.
  await drover.kubectl(["rollout", "restart", "-n", "drover", "deployment/gateway"]);
  await drover.kubectl(["rollout", "status", "-n", "drover", "deployment/gateway", "--timeout=120s"]);
  const allowed = allowedBy(rulesIn("apps/gateway/deploy/rbac.yaml"));
  const used = await eventually(async () => {
    const now = usedBy(await drover.audited(), gateway);
    // Servers before 1.32 do not stream listings.
    expect(allowed.filter((one) => !now.has(one))).toEqual(["list reconcilefunctions.drover.dev"]);
    return now;
  });
  // By Roles: of each function that is called, and, for permits and its Lease, of the gateway's own namespace.
  expect([...used].filter((one) => !allowed.includes(one)).sort()).toEqual([
    ...["create leases.coordination.k8s.io", "get secrets", "get services"],
    ...["patch leases.coordination.k8s.io", "watch configmaps"],
  ]);
  expect([...usedBy(await drover.audited(), `system:serviceaccount:${home}:${name}`)].sort()).toEqual([
    "create events.events.k8s.io",
    "get greetings.examples.drover.dev",
    "patch events.events.k8s.io",
    "patch greetings.examples.drover.dev",
    "update greetings/status.examples.drover.dev",
  ]);
  const may = (verb: string, what: string): Promise<boolean> =>
    drover.kubectl(["auth", "can-i", "-n", home, "--as", gateway, verb, what]).then(
      () => true,
      () => false,
    );
  expect(await may("get", `secrets/${name}-webhook`)).toBe(true);
  expect(await may("get", "secrets")).toBe(false);
  expect(await may("impersonate", `serviceaccounts/${name}`)).toBe(true);
  expect(await may("impersonate", "serviceaccounts/default")).toBe(false);
  expect(await may("get", "greetings.examples.drover.dev")).toBe(false);
  await drover.kubectl(["delete", "reconcilefunction", name, "-n", home, "--timeout=100s"]);
  await eventually(async () => {
    expect(await may("get", `secrets/${name}-webhook`)).toBe(false);
    expect(await may("impersonate", `serviceaccounts/${name}`)).toBe(false);
  });
});
