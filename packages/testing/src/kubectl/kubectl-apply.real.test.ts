import { objectKey } from "@drover/controller";
import { noFaults, startFaultProxy } from "../fault-proxy/index.ts";
import { pseudoRandom, type PseudoRandom } from "@drover/random";
import {
  builtin,
  connect,
  createOrReplace,
  installCrd,
  type KubeClient,
  type KubeObject,
} from "@drover/kube";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { startSandbox } from "@drover/sandbox";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { crdOf } from "../crd-of.fixture.ts";
import { folderOfFile } from "../folder.fixture.ts";
import type { ApiAddress } from "./api-address.ts";
import { type Manifest, openUser, type User } from "./user.ts";

// Compares the objects after `kubectl apply` on a real API server with those after `apply` of the kit: on the same server,
// in another namespace, and in the sandbox.
let cluster: RealCluster;
const folder = folderOfFile();
let real: Ground;
let sandbox: Ground;

interface Ground {
  readonly client: KubeClient;
  readonly user: User;
  close(): Promise<void>;
}

const widgets = { group: "example.com", version: "v1", plural: "widgets", kind: "Widget", namespaced: true };
const keyed = {
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name"],
  items: {
    type: "object",
    required: ["name"],
    properties: { name: { type: "string" }, value: { type: "integer" } },
  },
};
const definition = crdOf({
  group: "example.com",
  kind: "Widget",
  openAPIV3Schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          colour: { type: "string", default: "red" },
          maybe: { type: "string", nullable: true },
          keyed,
        },
      },
      status: { type: "object", properties: { seen: { type: "integer" } } },
    },
  },
});

beforeAll(async () => {
  cluster = await startRealCluster();
  const proxy = await startFaultProxy({ upstream: { kubeconfig: cluster.kubeconfig }, decider: noFaults });
  real = await groundOf({ server: proxy.url, token: proxy.token, close: () => proxy.close() });
  const server = await startSandbox();
  sandbox = await groundOf({ server: server.url, token: server.token, close: () => server.close() });
  for (const client of [real.client, sandbox.client]) {
    await installCrd(client, definition);
    for (const name of ["ours", "theirs"])
      await createOrReplace(client, builtin.namespace, { metadata: { name } });
  }
}, 900_000);
afterAll(async () => {
  await Promise.all([real.close(), sandbox.close()]);
  await cluster.stop();
});

async function groundOf(address: ApiAddress & { close(): Promise<void> }): Promise<Ground> {
  const client = await connect({ server: address.server, token: address.token, userAgent: "test" });
  return {
    client,
    user: openUser(client, address),
    async close() {
      await client.close();
      await address.close();
    },
  };
}

/** A patch by another client. */
interface Others {
  readonly others: object;
  readonly status?: boolean;
}
/** A title, and steps: a manifest is applied, or another client patches the object. */
type Story = readonly [title: string, first: Manifest, ...acts: (Manifest | Others)[]];
const isOthers = (act: Manifest | Others): act is Others => "others" in act;

const run = promisify(execFile);
let files = 0;
async function kubectlApply(manifests: readonly Manifest[]): Promise<void> {
  const items = manifests.map((one) => ({ ...one, metadata: { ...one.metadata, namespace: "theirs" } }));
  const file = join(folder, `${files++}.json`);
  await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  await run(cluster.kubectl, ["apply", "-f", file]);
}

const refs = { ConfigMap: builtin.configMap, Deployment: builtin.deployment, Service: builtin.service };
const refOf = (kind: string) => (kind in refs ? refs[kind as keyof typeof refs] : widgets);

/** Runs all stories, act by act: in `theirs` by kubectl, in `ours` and in the sandbox by the kit. After each act, the objects must be equal. */
async function live(stories: readonly Story[]): Promise<void> {
  const most = Math.max(...stories.map((story) => story.length));
  for (let i = 1; i < most; i++) {
    const now = stories.flatMap(([title, first, ...more]) => {
      const act = [first, ...more][i - 1];
      const key = { name: first.metadata.name, ref: refOf(first.kind) };
      return act === undefined ? [] : [{ ...key, act, title: `${title}, after act ${i}` }];
    });
    await kubectlApply(now.flatMap(({ act }) => (isOthers(act) ? [] : [act])));
    for (const { name, ref, act } of now) {
      for (const [ground, namespace] of places) {
        if (isOthers(act)) {
          const options = act.status === true ? ({ subresource: "status" } as const) : {};
          const patch = { type: "merge", body: act.others } as const;
          await ground().client.patch(ref, objectKey({ namespace, name }), patch, options);
        } else if (namespace === "ours") {
          await ground().user.apply({ ...act, metadata: { ...act.metadata, namespace } });
        }
      }
    }
    for (const { name, ref, title } of now) {
      const look = async (ground: Ground, namespace: string) =>
        comparable(await ground.client.get(ref, objectKey({ namespace, name })));
      const theirs = await look(real, "theirs");
      expect(theirs, title).toBeDefined();
      expect(await look(real, "ours"), title).toEqual(theirs);
      expectAlike(ref.kind, await look(sandbox, "ours"), theirs, `${title}, in the sandbox`);
    }
  }
}
/** The sandbox fills in few defaults of Deployments and Services: all that it has must be the same. */
function expectAlike(kind: string, ours: unknown, theirs: unknown, title: string): void {
  if (kind !== "Deployment" && kind !== "Service") expect(ours, title).toEqual(theirs);
  else expect(theirs, title).toMatchObject(withoutEmpty(ours) as object);
}

/** Without the empty lists and maps in it, which a real server leaves out of pods. */
const withoutEmpty = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, one: unknown) =>
    typeof one === "object" && one !== null && Object.keys(one).length === 0 ? undefined : one,
  ) as unknown;

const places = [
  [() => real, "theirs"],
  [() => real, "ours"],
  [() => sandbox, "ours"],
] as const;

/** Without what must differ; `last-applied-configuration` has to be the same text. */
function comparable(object: KubeObject | undefined): unknown {
  if (object === undefined) return undefined;
  const { uid, resourceVersion, creationTimestamp, managedFields, namespace, ...all } = object.metadata;
  // A real server counts changes of a Deployment's annotations, too.
  const { generation, ...rest } = all;
  const metadata = object.kind === "Deployment" ? rest : all;
  const text = JSON.stringify({ ...object, metadata }).replaceAll(
    `\\"namespace\\":\\"${namespace ?? ""}\\"`,
    "",
  );
  const { spec, ...others } = JSON.parse(text) as Record<string, unknown> & {
    spec?: Record<string, unknown>;
  };
  const { clusterIP, clusterIPs, ...kept } = spec ?? {};
  return { ...others, ...(spec && { spec: kept }) };
}

const named =
  (kind: string, apiVersion: string) =>
  (name: string, content: object, metadata: object = {}): Manifest => ({
    apiVersion,
    kind,
    metadata: { name, ...metadata },
    ...content,
  });
const configMap = named("ConfigMap", "v1");
const widget = named("Widget", "example.com/v1");
const service = named("Service", "v1");
const deploymentManifest = named("Deployment", "apps/v1");
const deployment = (name: string, pod: object, spec: object = {}): Manifest =>
  deploymentManifest(name, {
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: pod },
      ...spec,
    },
  });
const container = (name: string, more: object = {}) => ({ name, image: `${name}:1`, ...more });
const env = (values: Readonly<Record<string, string>>) => ({
  env: Object.entries(values).map(([name, value]) => ({ name, value })),
});
const keyedItems = (values: Readonly<Record<string, number>>) => ({
  spec: { keyed: Object.entries(values).map(([name, value]) => ({ name, value })) },
});
const podPatch = (spec: object): Others => ({ others: { spec: { template: { spec } } } });
const withStrategy = (strategy?: object): Manifest =>
  deployment("strategy", { containers: [container("a")] }, strategy && { strategy });

const table: readonly Story[] = [
  [
    "a field is removed from the manifest",
    configMap("removed", { data: { a: "1", b: "2" } }),
    configMap("removed", { data: { a: "1" } }),
  ],
  [
    "what others have set stays, and what they have changed is changed back",
    configMap("others", { data: { a: "1", b: "2" } }, { labels: { team: "a" } }),
    {
      others: {
        data: { b: "changed", c: "theirs" },
        metadata: { labels: { other: "x" }, annotations: { note: "y" } },
      },
    },
    configMap("others", { data: { a: "1", b: "2" } }, { labels: { team: "b" } }),
    configMap("others", {}, {}),
  ],
  [
    "what others have set, too, goes with the manifest's field",
    configMap("shared", { data: { a: "1", b: "2" } }),
    { others: { data: { b: "2" } } },
    configMap("shared", { data: { a: "1" } }),
  ],
  [
    "labels, annotations and finalizers come and go",
    configMap(
      "marked",
      {},
      { labels: { a: "1" }, annotations: { b: "1" }, finalizers: ["example.com/a", "example.com/b"] },
    ),
    { others: { metadata: { finalizers: ["example.com/z", "example.com/a", "example.com/b"] } } },
    configMap("marked", {}, { labels: { c: "1" }, finalizers: ["example.com/b", "example.com/c"] }),
    configMap("marked", {}, { annotations: { b: "2" } }),
  ],
  [
    "nulls",
    deployment("nulls", { containers: [container("a")], nodeSelector: null, volumes: null }),
    podPatch({ nodeSelector: { a: "1" }, volumes: [{ name: "v" }] }),
    deployment("nulls", { containers: [container("a", { env: null })], nodeSelector: null }),
    deployment("nulls", { containers: [container("a")], nodeSelector: { b: "1" } }),
    deployment("nulls", { containers: [container("a")], nodeSelector: null }, { strategy: null }),
  ],
  [
    "nulls in a custom resource",
    widget("nulls", { spec: { free: { a: 1, b: null, c: { d: null } }, maybe: null } }),
    { others: { spec: { free: { b: 2, c: { d: 3 } }, maybe: "x" } } },
    widget("nulls", { spec: { free: { a: null, b: null, c: { d: null } }, maybe: null } }),
    { others: { spec: { free: { a: 5 } } } },
    widget("nulls", { spec: { free: { a: null, b: { c: null } }, colour: null } }),
  ],
  [
    "a value becomes one of another type",
    widget("types", { spec: { free: { a: { b: 1 }, c: [1, 2], d: "x" } } }),
    widget("types", { spec: { free: { a: [1], c: "y", d: { e: { f: 1 } } } } }),
    { others: { spec: { free: { a: { mine: 1 }, d: 4 } } } },
    widget("types", { spec: { free: { a: {}, d: {} } } }),
  ],
  [
    "lists of a custom resource are replaced, whatever its schema says",
    widget("lists", keyedItems({ a: 1, b: 2 })),
    { others: keyedItems({ a: 1, z: 9 }) },
    widget("lists", keyedItems({ b: 3 })),
    widget("lists", { spec: {} }),
  ],
  [
    "a status of a controller stays",
    widget("status", { spec: { free: {} } }),
    { others: { status: { seen: 3 } }, status: true },
    widget("status", { spec: { free: { a: 1 } }, status: { seen: 9 } }),
    widget("status", { spec: { free: { a: 1 } } }),
  ],
  [
    "defaults come back",
    widget("defaults", { spec: { colour: "blue" } }),
    widget("defaults", { spec: {} }),
    widget("defaults", {}),
  ],
  [
    "containers merge by name, and keep what others have added",
    deployment("containers", {
      containers: [container("a", env({ x: "1", y: "2" })), container("b")],
    }),
    podPatch({
      containers: [
        container("sidecar"),
        container("a", { ...env({ z: "9", y: "2", x: "1" }), stdin: true }),
        container("b"),
      ],
    }),
    deployment("containers", { containers: [container("c"), container("a", env({ y: "3" }))] }),
    deployment("containers", { containers: [container("a")] }),
  ],
  [
    "ports, mounts, volumes that become others, and lists that are replaced",
    deployment("volumes", {
      containers: [
        container("a", {
          ports: [{ containerPort: 80, name: "http" }, { containerPort: 81 }],
          args: ["x", "y"],
          volumeMounts: [
            { name: "v", mountPath: "/v" },
            { name: "w", mountPath: "/w" },
          ],
        }),
      ],
      volumes: [
        { name: "v", emptyDir: {} },
        { name: "w", configMap: { name: "x" } },
      ],
      tolerations: [
        { key: "a", operator: "Exists" },
        { key: "b", operator: "Exists" },
      ],
      imagePullSecrets: [{ name: "a" }, { name: "b" }],
    }),
    deployment("volumes", {
      containers: [
        container("a", {
          ports: [{ containerPort: 81, name: "other" }],
          args: ["y"],
          volumeMounts: [{ name: "w", mountPath: "/w", readOnly: true }],
        }),
      ],
      volumes: [{ name: "w", secret: { secretName: "y" } }],
      tolerations: [{ key: "b", operator: "Exists", effect: "NoSchedule" }],
      imagePullSecrets: [{ name: "c" }, { name: "b" }],
    }),
    deployment("volumes", { containers: [container("a")] }),
  ],
  [
    "a strategy that excludes the settings of another",
    withStrategy({ type: "RollingUpdate", rollingUpdate: { maxSurge: 3 } }),
    withStrategy({ type: "Recreate" }),
    withStrategy({ type: "RollingUpdate" }),
    { others: { spec: { replicas: 4, strategy: { rollingUpdate: { maxSurge: 7 } } } } },
    withStrategy({ type: "RollingUpdate" }),
    withStrategy(),
  ],
  [
    "ports of a Service",
    service("ports", {
      spec: {
        selector: { app: "a" },
        ports: [
          { name: "a", port: 80, targetPort: 8080 },
          { name: "b", port: 81 },
        ],
      },
    }),
    { others: { spec: { sessionAffinity: "ClientIP" } } },
    service("ports", {
      spec: {
        selector: { tier: "b" },
        ports: [
          { name: "c", port: 82 },
          { name: "b", port: 81, targetPort: "http" },
        ],
      },
    }),
  ],
];

it("has the result of kubectl apply in every special case of merging", { timeout: 300_000 }, async () => {
  await live(table);
});

const values: readonly [unknown, ...unknown[]] = [
  "x",
  "y",
  1,
  2,
  true,
  null,
  [],
  {},
  [1, 2],
  [{ a: 1 }],
  [{ a: null, b: [null] }],
  { a: 1 },
  { a: null },
  { b: { c: "z" } },
];
const fields = ["a", "b", "c", "d"];
function tree(by: PseudoRandom, depth = 0): Record<string, unknown> {
  return Object.fromEntries(
    by
      .some(fields, by.between(0, 3))
      .map((name) => [name, depth < 2 && by.chance(0.4) ? tree(by, depth + 1) : by.oneOf(values)]),
  );
}
/** A patch of another client: without nulls, so that all of it stays. */
const othersTree = (by: PseudoRandom): object =>
  JSON.parse(JSON.stringify(tree(by), (_, value: unknown) => (value === null ? "n" : value))) as object;
const texts = (by: PseudoRandom): Record<string, unknown> =>
  Object.fromEntries(by.some(fields, by.between(0, 3)).map((name) => [name, by.oneOf(["1", "2"])]));
const somePod = (by: PseudoRandom): object => ({
  containers: by.some(["a", "b", "c"], by.between(1, 3)).map((name) =>
    container(name, {
      ...(by.chance(0.7) && {
        env: by.some(fields, by.between(0, 3)).map((one) => ({ name: one, value: by.oneOf(["1", "2"]) })),
      }),
      ...(by.chance(0.4) && {
        ports: by.some([80, 81, 82], by.between(0, 2)).map((containerPort) => ({ containerPort })),
      }),
      ...(by.chance(0.4) && { command: by.some(["x", "y"], by.between(0, 2)) }),
      ...(by.chance(0.3) && { resources: { limits: by.oneOf([{ cpu: "1" }, { memory: "1Gi" }, {}]) } }),
    }),
  ),
  ...(by.chance(0.5) && {
    volumes: by
      .some(["v", "w"], by.between(0, 2))
      .map((name) => ({ name, ...by.oneOf([{ emptyDir: {} }, { configMap: { name: "c" } }]) })),
  }),
  ...(by.chance(0.5) && { nodeSelector: texts(by) }),
});

function randomStory(number: number, by: PseudoRandom): Story {
  const name = `random-${number}`;
  const kind = by.oneOf(["ConfigMap", "Widget", "Deployment"] as const);
  const next = (): Manifest => {
    const metadata = {
      ...(by.chance(0.5) && { labels: texts(by) }),
      ...(by.chance(0.5) && { annotations: texts(by) }),
    };
    if (kind === "ConfigMap") return configMap(name, by.chance(0.9) ? { data: texts(by) } : {}, metadata);
    if (kind === "Widget") return widget(name, { spec: { free: tree(by) } }, metadata);
    const { metadata: plain, ...content } = deployment(name, somePod(by));
    return { ...content, metadata: { ...metadata, ...plain } };
  };
  const others = (): Others => {
    if (kind === "ConfigMap")
      return { others: { data: { [by.oneOf(fields)]: "theirs" }, metadata: { labels: { z: "1" } } } };
    if (kind === "Widget") return { others: { spec: { free: othersTree(by) } } };
    return {
      others: { spec: { replicas: by.between(1, 5), template: { spec: { nodeSelector: { z: "9" } } } } },
    };
  };
  const acts = [next(), ...(by.chance(0.6) ? [others()] : []), next(), next()] as const;
  return [`${kind} ${name}: ${JSON.stringify(acts)}`, ...acts];
}

it("has the result of kubectl apply for random manifests", { timeout: 600_000 }, async () => {
  const by = pseudoRandom(1);
  await live(Array.from({ length: 120 }, (_, i) => randomStory(i, by)));
});
