import { ReconcileFunction } from "@drover/controller";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { templateOf } from "../testing/pod-templates.ts";
import { podManifest } from "./pod-template.ts";

const run = promisify(execFile);
const strictNamespace = "strict";
/** A quota of these makes the API server refuse every Pod that does not set them. */
const stated = { "requests.cpu": "10", "requests.memory": "10Gi", "limits.memory": "10Gi" };
let cluster: RealCluster;
beforeAll(async () => {
  cluster = await startRealCluster();
  const metadata = { name: strictNamespace, labels: { "pod-security.kubernetes.io/enforce": "restricted" } };
  await create({ apiVersion: "v1", kind: "Namespace", metadata });
  for (const name of ["bridge", "deployer", "gateway", "cups"]) {
    await create({
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name, namespace: strictNamespace },
    });
  }
  await create({
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "stated", namespace: strictNamespace },
    spec: { hard: stated },
  });
  // As the controller manager would: there is none.
  const status = JSON.stringify({
    status: { hard: stated, used: { "requests.cpu": "0", "requests.memory": "0", "limits.memory": "0" } },
  });
  await run(cluster.kubectl, [
    "patch",
    "resourcequota",
    "stated",
    "-n",
    strictNamespace,
    "--subresource=status",
    "--type=merge",
    "-p",
    status,
  ]);
});
afterAll(() => cluster.stop());

async function create(object: object, ...more: readonly string[]): Promise<string> {
  const running = run(cluster.kubectl, ["create", "-f", "-", ...more]);
  running.child.stdin?.end(JSON.stringify(object));
  return (await running).stdout;
}
const created = (name: string, spec: object): Promise<string> =>
  create(
    { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: strictNamespace }, spec },
    "--dry-run=server",
  );

const podSpec = z.looseObject({ containers: z.array(z.looseObject({})) });
const deploymentSchema = z.looseObject({
  spec: z.looseObject({ template: z.looseObject({ spec: podSpec }) }),
});
const functionPodSpec = (container: object, fields: object = {}) => {
  const template = templateOf(container, fields);
  const secured = { ...template.environment, redisUrl: "rediss://valkey.drover:6379", redisCa: "ca" };
  return podManifest({ ...template, environment: secured }, 1).spec;
};

it.each(["bridge", "deployer", "gateway"])(
  "the Pod of %s is accepted where only restricted ones are, and states its resources",
  async (part) => {
    const file = new URL(`../../../${part}/deploy/deployment.yaml`, import.meta.url);
    const { spec } = deploymentSchema.parse(parse(await readFile(file, "utf8"), { version: "1.1" })).spec
      .template;
    expect(await created(part, spec)).toMatch(/created/);
    const without = { ...spec, containers: spec.containers.map(({ resources: _, ...rest }) => rest) };
    await expect(created(part, without)).rejects.toThrow(/must specify/);
  },
);

it.each([
  ["that pulls", functionPodSpec({})],
  ["that is called", functionPodSpec({}, { delivery: "webhook" })],
  [
    "that has a folder of its own",
    functionPodSpec({ volumes: [{ name: "t", mountPath: "/tmp", emptyDir: {} }] }),
  ],
])("so is the Pod of a function %s", async (_what, spec) => {
  expect(await created("function", spec)).toMatch(/created/);
  const [container] = spec.containers;
  const loose = { ...container, securityContext: {} };
  await expect(created("function", { ...spec, containers: [loose] })).rejects.toThrow(/violates PodSecurity/);
});

it("a Pod is placed as its function says: the API server takes every field as it is", async () => {
  const matchExpressions = [{ key: "zone", operator: "In", values: ["a"] }];
  const term = {
    topologyKey: "zone",
    labelSelector: { matchLabels: { tier: "a" }, matchExpressions },
    namespaceSelector: {},
    matchLabelKeys: ["revision"],
  };
  const podAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: [term],
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 7, podAffinityTerm: { ...term, namespaces: ["a"] } },
    ],
  };
  const nodeTerm = { matchExpressions: [{ key: "cores", operator: "Gt", values: ["4"] }] };
  const placed = {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { ...nodeTerm, matchFields: [{ ...matchExpressions[0], key: "metadata.name" }] },
          ],
        },
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 3, preference: nodeTerm }],
      },
      podAffinity,
      podAntiAffinity: podAffinity,
    },
    priorityClassName: "system-node-critical",
    topologySpreadConstraints: [
      {
        maxSkew: 2,
        topologyKey: "zone",
        whenUnsatisfiable: "DoNotSchedule",
        minDomains: 2,
        nodeAffinityPolicy: "Honor",
        nodeTaintsPolicy: "Ignore",
        matchLabelKeys: ["revision"],
      },
    ],
  };
  const container = ReconcileFunction.spec.shape.container.parse({ image: "cups:1", ...placed });
  const accepted: unknown = JSON.parse(
    await create(
      {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "placed", namespace: strictNamespace },
        spec: functionPodSpec(container ?? {}),
      },
      "--dry-run=server",
      "--validate=strict",
      "--output=json",
    ),
  );
  expect(accepted).toMatchObject({ spec: placed });
});
