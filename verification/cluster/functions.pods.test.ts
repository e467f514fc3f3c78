import { afterAll, expect, it } from "vitest";
import { z } from "zod";
import { Task } from "../end-to-end/functions/tasks.ts";
import { s3Truth } from "../end-to-end/stage/s3-truth.ts";
import {
  bucketFunction,
  bucketPermissions,
  buckets,
  installedKinds,
  marked,
  taskFunction,
} from "./deployed-functions.ts";
import { accountOf, bridge, deployer, home, startDeployerInPods } from "./deployer-in-pods.ts";
import { Bucket } from "@drover/s3-bucket";
import { object } from "../harness/manifests.ts";
import { allowedBy, rulesIn, usedBy, without } from "./needed-rules.ts";
import { observedFunctions } from "./observed-functions.ts";
import { eventually } from "./pod-cluster.ts";
import { allowPrometheus, readMetrics } from "./read-metrics.ts";

const drover = await startDeployerInPods();
afterAll(() => drover.stop());
const inHome = (...args: readonly string[]) => drover.kubectl([...args, "-n", home]);
const functions = observedFunctions(drover);
await drover.apply(...installedKinds());
await drover.wait("condition=Established", "crd/buckets.s3.drover.dev", "crd/tasks.example.com");
await drover.kubectl(["create", "serviceaccount", "-n", home, "plain"]);
// Pods next to it must not learn this.
await inHome("create", "service", "clusterip", "drover", "--tcp=80");
const makers = ["--verb=get,create,update,patch,delete", "--resource=reconcilefunctions.drover.dev"];
await inHome("create", "role", "makers", ...makers);
await inHome("create", "rolebinding", "makers", "--role=makers", "--group=makers");
await inHome("create", "rolebinding", "bob", "--clusterrole=cluster-admin", "--user=bob");
await drover.kubectl([
  ...["create", "clusterrole", "events", "--verb=create,patch", "--resource=events.events.k8s.io"],
]);
await drover.kubectl(["create", "clusterrolebinding", "events", "--clusterrole=events", "--user=bob"]);
const seen = ["--verb=list,watch", "--resource=buckets.s3.drover.dev,tasks.example.com"];
await drover.kubectl(["create", "clusterrole", "seen", ...seen]);
await drover.kubectl(["create", "clusterrolebinding", "seen", "--clusterrole=seen", "--user=bob"]);

const bucket = (name: string) => object(Bucket, name, { bucketName: name, onDelete: "Delete" }, home);
const task = (name: string, ms: number) => object(Task, name, { ms }, home);
const waitFor = (condition: string, ...objects: readonly string[]) =>
  drover.wait(condition, `--namespace=${home}`, ...objects);

it("a user without a function's permissions cannot deploy it, and its status has the reason", async () => {
  await drover.applyAs("alice", bucketFunction({ max: 1 }));
  await eventually(async () => {
    const { status, reason, message } = (await functions.conditionOf(buckets)) ?? {};
    expect([status, reason]).toEqual(["False", "PermissionNotHeld"]);
    expect(message).toMatch(/^The author alice may not list buckets .* in all namespaces/);
  });
  expect(await functions.objectsOf(buckets)).toEqual([]);
  expect(await functions.statusOf(`reconcilefunction/${buckets}`)).not.toHaveProperty("follows");
});

it("for a user with the permissions its container is tried, and no Pod runs until a key is due", async () => {
  await drover.applyAs("bob", bucketFunction({ max: 2, idleAfter: "5s" }));
  await waitFor("condition=RolledOut", `reconcilefunction/${buckets}`);
  await eventually(async () => {
    expect(await functions.conditionOf(buckets)).toMatchObject({ reason: "ScaledToZero" });
    expect(await functions.podsOf(buckets)).toEqual([]);
  });
  const objects = (await functions.objectsOf(buckets)).filter((one) => !one.startsWith("EndpointSlice"));
  expect(objects).toEqual([
    `ClusterRole drover-bridge:apps:${buckets}`,
    `ClusterRole drover:apps:${buckets}`,
    `ClusterRoleBinding drover:apps:${buckets}`,
    `NetworkPolicy ${buckets}`,
    `Role ${buckets}`,
    `RoleBinding ${buckets}`,
    `Secret ${buckets}-redis`,
    "Service buckets-s3-drover-dev",
    `ServiceAccount ${buckets}`,
  ]);
});

it("the first object has a Pod started, where only locked down ones may be, which does the work; idle, it goes", async () => {
  await expect(inHome("run", "loose", "--image=any")).rejects.toThrow(/violates PodSecurity "restricted/);
  const truth = s3Truth({ url: drover.s3Url, region: "us-east-1", accessKeyId: "x", secretAccessKey: "x" });
  const asked = Date.now();
  await drover.applyAs(undefined, bucket("first"));
  await waitFor("condition=Ready", "bucket/first");
  expect(await truth.names()).toContain("first");
  truth.close();
  const [pod] = await functions.podsOf(buckets);
  const log = await inHome("logs", "--timestamps", pod?.metadata.name ?? "");
  console.log(await timesOf(asked, log));
  await eventually(async () => expect(await functions.podsOf(buckets)).toEqual([]));
  expect(await functions.conditionOf(buckets)).toMatchObject({ reason: "ScaledToZero" });
});

/** From the first wake of a function without Pods, in milliseconds since the object was written. */
async function timesOf(asked: number, log: string): Promise<string> {
  const requests = (await drover.audited()).filter(({ at }) => at >= asked - 1_000);
  const first = (what: string, verb: string, by = "") =>
    requests.find((one) => one.resource === what && one.verb === verb && one.user.includes(by))?.at ?? NaN;
  const loggedAt = (words: string) =>
    Date.parse(
      log
        .split("\n")
        .find((line) => line.includes(words))
        ?.split(" ")[0] ?? "",
    );
  const written = requests.find((one) => one.resource === "buckets" && one.name === "first")?.at ?? NaN;
  const times = {
    "Pod made": first("pods", "create", "deployer"),
    "on the node": first("pods/binding", "create"),
    "process logs its first line": Date.parse(log.split(" ")[0] ?? ""),
    "takes keys": loggedAt("Taking keys"),
    "first write of the run": first("buckets", "patch", buckets),
    "Bucket Ready": first("buckets/status", "update", buckets),
  };
  return Object.entries(times)
    .map(([what, at]) => `${what} ${Math.round(at - written)} ms`)
    .join(", ");
}

it("its ServiceAccount may do what is declared, and nothing else", async () => {
  const rules = async (name: string) => {
    const review = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectRulesReview",
      spec: { namespace: home },
    };
    const answer = await drover.kubectl(
      ["create", "-f", "-", "-o", "json", "--validate=false", "--as", accountOf(home, name)],
      {
        input: JSON.stringify(review),
      },
    );
    const rule = z.object({
      apiGroups: z.array(z.string()).default([]),
      resources: z.array(z.string()),
      verbs: z.array(z.string()),
    });
    const { status } = z
      .object({ status: z.object({ resourceRules: z.array(rule) }) })
      .parse(JSON.parse(answer));
    return status.resourceRules.map((one) => JSON.stringify(one)).sort();
  };
  const anybodys = await rules("plain");
  const declared = [...bucketPermissions.namespace, ...bucketPermissions.cluster];
  const own = (await rules(buckets)).filter((one) => !anybodys.includes(one));
  expect(own.map((one): unknown => JSON.parse(one))).toEqual(expect.arrayContaining(declared));
  expect(own).toHaveLength(declared.length);
});

it("a Service leads to its Pods", async () => {
  await drover.applyAs("bob", taskFunction({ image: "example/tasks:1" }));
  await eventually(async () =>
    expect(await functions.conditionOf("tasks")).toMatchObject({ reason: "Running" }),
  );
  const service = z.object({ spec: z.object({ clusterIP: z.string() }) });
  const { spec } = await drover.read(["service", "tasks"], service);
  const { port } = await drover.reach(spec.clusterIP, 80);
  await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200));
});

it("a new version takes over while the old one ends its run; no key goes back", async () => {
  await drover.push({
    of: "tasks",
    entry: "verification/end-to-end/functions/tasks.ts",
    as: "example/tasks:2",
  });
  await drover.applyAs(undefined, task("short", 1), task("long", 15_000));
  await waitFor("condition=Ready", "task/short");
  await begun("long");
  await drover.applyAs("bob", taskFunction({ image: "example/tasks:2" }));
  await eventually(async () =>
    expect(await functions.revisionsOf("tasks")).toEqual(expect.arrayContaining(["1", "2"])),
  );
  const ranBy: unknown[] = [];
  for (let ms = 2; ranBy.at(-1) !== "example/tasks:2"; ms++) {
    await drover.applyAs(undefined, task("short", ms));
    await waitFor(`jsonpath={.status.observedGeneration}=${ms}`, "task/short");
    ranBy.push((await functions.statusOf("task/short"))["by"]);
  }
  await waitFor("condition=Ready", "task/long");
  expect(await functions.statusOf("task/long")).toMatchObject({ by: "example/tasks:1" });
  await eventually(async () => expect(await functions.revisionsOf("tasks")).toEqual(["2"]));
  expect(ranBy).toEqual([...ranBy].sort());
  const requests = (await drover.audited()).filter(
    ({ resource, name, code }) => resource === "tasks/status" && name === "long" && code === 200,
  );
  expect(requests).toHaveLength(1);
});
/** A run of this Task is under way. */
const begun = (name: string) =>
  eventually(async () => {
    const logs = await inHome("logs", "-l", "drover.dev/function=tasks", "--tail=-1");
    expect(logs).toContain(`begins ${home}/${name}\n`);
  });

it("a version that does not start replaces no running Pod, and the status has the reason", async () => {
  const stuckAs = (reason: string, message: RegExp) =>
    eventually(async () => {
      const rolledOut = await functions.conditionOf("tasks", "RolledOut");
      expect(rolledOut?.reason).toBe(reason);
      expect(rolledOut?.message).toMatch(message);
    });
  const before = (await functions.podsOf("tasks")).map(({ metadata }) => metadata.uid);
  await drover.applyAs("bob", taskFunction({ image: "example/tasks:nowhere" }));
  await stuckAs("ImageNotPulled", /ImagePullBackOff.*tasks:nowhere/);
  await drover.applyAs(
    "bob",
    taskFunction({ image: "example/tasks:1", command: ["node", "-e", "process.exit(3)"] }),
  );
  await stuckAs("NewPodsDoNotStart", /exit code 3/);
  await drover.applyAs(undefined, task("meanwhile", 1));
  await waitFor("condition=Ready", "task/meanwhile");
  expect((await functions.podsOf("tasks")).map(({ metadata }) => metadata.uid)).toEqual(
    expect.arrayContaining(before),
  );
  await drover.applyAs("bob", taskFunction({ image: "example/tasks:2" }));
  await eventually(async () => expect(await functions.podsOf("tasks")).toHaveLength(1));
});

it("a container that is killed is started again, and its run is done again", async () => {
  const [before] = await functions.podsOf("tasks");
  await drover.applyAs(undefined, task("killed", 5_000));
  await begun("killed");
  await drover.exec(["pkill", "-KILL", "-f", marked]);
  await waitFor("condition=Ready", "task/killed");
  const [after] = await functions.podsOf("tasks");
  expect(after?.metadata.uid).toBe(before?.metadata.uid);
  expect(after?.status.containerStatuses[0]?.restartCount).toBe(1);
});

it("a Redis that has lost all users gets them again", async () => {
  await drover.exec(["pkill", "-KILL", "valkey-server"]);
  await drover.applyAs(undefined, task("after", 1), bucket("after"));
  await waitFor("condition=Ready", "task/after", "bucket/after");
  for (const name of ["tasks", buckets]) expect(await drover.usersOf(name)).toHaveLength(1);
});

it("its password is changed by a roll-out, and the function works on", async () => {
  const passwordOf = () => inHome("get", "secret", "tasks-redis", "-o", "jsonpath={.data.password}");
  const before = await passwordOf();
  const rotate = async (every: string) => {
    await drover.kubectl([
      "set",
      "env",
      "-n",
      "drover",
      "deployment/deployer",
      `DROVER_ROTATE_EVERY=${every}`,
    ]);
    await drover.kubectl(["rollout", "status", "-n", "drover", "deployment/deployer", "--timeout=120s"]);
  };
  await rotate("1s");
  await eventually(async () => expect(await passwordOf()).not.toBe(before));
  await rotate("480h");
  await drover.applyAs(undefined, task("rotated", 1));
  await waitFor("condition=Ready", "task/rotated");
});

it("changes to the function's objects are reverted", async () => {
  const objects = [
    "serviceaccount/tasks",
    "service/tasks",
    "networkpolicy/tasks",
    "role/tasks",
    "rolebinding/tasks",
  ];
  const everywhere = [
    "clusterrole/drover-bridge:apps:tasks",
    "clusterrole/drover:apps:tasks",
    "clusterrolebinding/drover:apps:tasks",
  ];
  const label = async (of: readonly string[]) =>
    inHome("label", "--overwrite", ...of, "drover.dev/function=others");
  await label(everywhere);
  await label(objects);
  await eventually(async () => expect(await functions.objectsOf("others")).toEqual([]));
});

it("what a function needs no more is taken away, when its last run is over", async () => {
  const manifest = taskFunction({ image: "example/tasks:2" });
  const { container, ...rest } = { ...manifest.spec, permissions: undefined };
  await drover.applyAs("bob", { ...manifest, spec: { ...rest, container } });
  await eventually(async () => expect((await functions.objectsOf("tasks")).join()).not.toMatch(/Role tasks/));
  await drover.applyAs("bob", manifest);
  await eventually(async () => expect((await functions.objectsOf("tasks")).join()).toMatch(/Role tasks/));
  await drover.applyAs(undefined, task("unhurried", 5_000));
  await begun("unhurried");
  await drover.applyAs("bob", { ...manifest, spec: rest });
  // Its queue still gets wakes: another worker may run it.
  const left = ["ClusterRole drover-bridge:apps:tasks"];
  await eventually(async () => expect(await functions.objectsOf("tasks")).toEqual(left));
  expect(await functions.statusOf("task/unhurried")).toMatchObject({ by: "example/tasks:2" });
  expect(await drover.usersOf("tasks")).toEqual([]);
});

it("a function that is deleted leaves nothing", async () => {
  await drover.applyAs("bob", taskFunction({ image: "example/tasks:2" }));
  await eventually(async () =>
    expect(await functions.conditionOf("tasks")).toMatchObject({ reason: "Running" }),
  );
  await drover.applyAs(undefined, task("last", 3_000));
  await begun("last");
  await inHome("delete", "reconcilefunctions", "--all", "--timeout=120s");
  expect(await functions.statusOf("task/last")).toMatchObject({ by: "example/tasks:2" });
  await eventually(async () => {
    expect([await functions.objectsOf("tasks"), await functions.objectsOf(buckets)]).toEqual([[], []]);
  });
  expect([...(await drover.redisUsers())].sort()).toEqual([
    "admin",
    "bridge",
    "default",
    "deployer",
    "gateway",
  ]);
});

it("bridge and deployer show metrics to accounts that may read them, and to no others", async () => {
  await allowPrometheus(drover);
  for (const part of ["bridge", "deployer"] as const)
    await eventually(async () =>
      expect(await readMetrics(drover, part)).toEqual({ reader: 200, stranger: 403 }),
    );
});

it("bridge and deployer need each thing that they may do, but for what lets others do things", async () => {
  // What it lists, it lists now and then, to compare.
  await drover.kubectl(["set", "env", "-n", "drover", "deployment/bridge", "DROVER_COMPARE_EVERY=1s"]);
  const unused = async (user: string, ...files: readonly string[]) => {
    const used = usedBy(await drover.audited(), user);
    return files.flatMap((file) => allowedBy(rulesIn(file))).filter((one) => !used.has(one));
  };
  await eventually(async () => {
    expect(await unused(bridge, "apps/bridge/deploy/rbac.yaml")).toEqual([]);
  });
  expect(await unused(deployer, "apps/deployer/deploy/rbac.yaml")).toEqual([
    "update reconcilefunctions/finalizers.drover.dev",
    "escalate roles.rbac.authorization.k8s.io",
    "bind roles.rbac.authorization.k8s.io",
    "escalate clusterroles.rbac.authorization.k8s.io",
    "bind clusterroles.rbac.authorization.k8s.io",
    // When the admission policies are other ones than before.
    "patch authorepochs.drover.dev",
  ]);
});

const rbac = "rbac.authorization.k8s.io";
const rules = [{ apiGroups: ["example.com"], resources: ["tasks"], verbs: ["get"] }];
const subjects = [{ kind: "ServiceAccount", name: "plain", namespace: home }];
const binds = (kind: string, name: string) => ({ subjects, roleRef: { apiGroup: rbac, kind, name } });
it.each([
  ["escalate", "roles", { kind: "Role", rules }],
  ["escalate", "clusterroles", { kind: "ClusterRole", rules }],
  ["bind", "roles", { kind: "RoleBinding", ...binds("Role", "makers") }],
  ["bind", "clusterroles", { kind: "ClusterRoleBinding", ...binds("ClusterRole", "view") }],
  ["update", "reconcilefunctions/finalizers", undefined],
])("without %s of %s the API server refuses the deployer", async (verb, resource, object) => {
  const name = "tried";
  const owner = { apiVersion: "drover.dev/v1alpha1", kind: "ReconcileFunction", name: "any", uid: "1" };
  const ownerReferences = [{ ...owner, controller: true, blockOwnerDeletion: true }];
  const tried = object
    ? { apiVersion: `${rbac}/v1`, ...object, metadata: { name } }
    : { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, ownerReferences } };
  const make = () =>
    drover.kubectl(["create", "-n", home, "--dry-run=server", "-f", "-", "--as", deployer], {
      input: JSON.stringify(tried),
    });
  const all = rulesIn("apps/deployer/deploy/rbac.yaml");
  const allow = (some: typeof all) =>
    drover.apply({
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRole",
      metadata: { name: "drover-deployer" },
      rules: some,
    });
  await make();
  await allow(without(all, verb, resource));
  await eventually(() => expect(make()).rejects.toThrow(/forbidden/));
  await allow(all);
  await eventually(make);
});
