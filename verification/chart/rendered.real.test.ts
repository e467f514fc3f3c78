import { installedPolicies } from "../../apps/deployer/src/permits/author-policies.ts";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderOfFile } from "../../packages/testing/src/folder.fixture.ts";
import { root } from "../harness/repository-files.ts";
import { chart, type Helm, manifestsIn, openHelm, type RenderedManifest } from "./helm.ts";

const folder = folderOfFile();
const run = promisify(execFile);
const mutating = "--api-versions=admissionregistration.k8s.io/v1/MutatingAdmissionPolicy";
let helm: Helm;
beforeAll(async () => void (helm = await openHelm(folder)), 600_000);

const idOf = ({ kind, metadata }: RenderedManifest): string => `${kind} ${metadata.name}`;
const byId = (manifests: readonly RenderedManifest[]) => new Map(manifests.map((one) => [idOf(one), one]));
const names = (manifests: readonly RenderedManifest[]): readonly string[] => manifests.map(idOf).sort();
const rendered = async (values: object, ...args: readonly string[]) =>
  manifestsIn(await helm.template(values, ...args));
const given = { valkey: { enabled: false }, redis: { url: "rediss://valkey.drover:6379" } };

const files = (...parts: readonly string[]) =>
  parts.flatMap((part) =>
    ["crd", "rbac", "authors", "deployment", "network-policies", "keda"].flatMap((name) => {
      const path = join(root, `apps/${part}/deploy/${name}.yaml`);
      try {
        return manifestsIn(readFileSync(path, "utf8"));
      } catch {
        return [];
      }
    }),
  );

it("has all objects of apps/*/deploy, each with all that it has there, and no others", async () => {
  const objects = await rendered({ ...given, keda: { enabled: true } }, mutating);
  const wanted = files("bridge", "deployer", "gateway");
  expect(wanted.length).toBeGreaterThan(30);
  expect(names(objects)).toEqual(names(wanted));
  const there = byId(objects);
  for (const one of wanted) expect(there.get(idOf(one)), idOf(one)).toMatchObject(withoutScaling(one, there));
});

/** With KEDA the chart adds the address of the deployer to its settings: the example of the file has it left out. */
function withoutScaling(wanted: RenderedManifest, there: ReadonlyMap<string, RenderedManifest>): object {
  if (idOf(wanted) !== "Deployment deployer") return wanted;
  const text = JSON.stringify(there.get(idOf(wanted)));
  expect(text).toContain('{"name":"DROVER_SCALING_URL","value":"http://deployer.drover:8080"}');
  const added = { name: "DROVER_SCALING_URL", value: "http://deployer.drover:8080" };
  return JSON.parse(
    JSON.stringify(wanted).replace(/(\{"name":"DROVER_NAMESPACE".*?\}\}\})/, `$1,${JSON.stringify(added)}`),
  ) as object;
}

it("in another namespace all of it is there: accounts, policies, addresses", async () => {
  const objects = await rendered({}, mutating, "--namespace=elsewhere");
  for (const { metadata } of objects) expect([undefined, "elsewhere"]).toContain(metadata.namespace);
  const there = byId(objects);
  const policies = manifestsIn(
    installedPolicies("elsewhere")
      .map((one) => JSON.stringify(one))
      .join("\n---\n"),
  );
  for (const one of policies) expect(there.get(idOf(one))).toMatchObject(one);
  const ofSubjects = objects.flatMap((one) => (one["subjects"] ?? []) as readonly { namespace?: string }[]);
  expect(new Set(ofSubjects.map(({ namespace }) => namespace))).toEqual(new Set(["elsewhere", undefined]));
  const [deployer] = objects.filter((one) => idOf(one) === "Deployment deployer");
  const text = JSON.stringify(deployer);
  for (const value of ["rediss://deployer@valkey.elsewhere:6379", "elsewhere/bridge", "elsewhere/gateway"]) {
    expect(text).toContain(`"${value}"`);
  }
  expect(JSON.stringify(objects)).not.toMatch(/(?<!part-of":)"drover"|serviceaccount:drover|\.drover[:"]/);
});

it("leaves out what the cluster does not have, and what is not wanted", async () => {
  const kinds = async (values: object, ...args: readonly string[]) =>
    new Set((await rendered(values, ...args)).map(({ kind }) => kind));
  expect(await kinds({})).not.toContain("MutatingAdmissionPolicy");
  expect(await kinds({})).not.toContain("ServiceMonitor");
  const monitored = { serviceMonitor: { enabled: true } };
  expect(await kinds(monitored)).not.toContain("ServiceMonitor");
  expect(await kinds(monitored, "--api-versions=monitoring.coreos.com/v1/ServiceMonitor")).toContain(
    "ServiceMonitor",
  );
  expect(await kinds({ networkPolicies: { enabled: false } })).not.toContain("NetworkPolicy");
  const without = names(await rendered({ gateway: { enabled: false } }));
  expect(without.filter((name) => name.includes("gateway"))).toEqual([]);
});

it("the Pod of Valkey has no token of an account, and no Pod is given the administrator's password", async () => {
  const objects = await rendered({});
  const [valkey] = objects.filter(({ kind }) => kind === "StatefulSet");
  expect(valkey).toMatchObject({ spec: { template: { spec: { automountServiceAccountToken: false } } } });
  expect(JSON.stringify(objects)).not.toMatch(/admin-redis|redis-authority/);
});

it("images come from the registry that is given, all of them", async () => {
  const text = await helm.template({ images: { registry: "mirror.example.com/all/" } });
  const images = [...text.matchAll(/^ *image: (.*)$/gm)].map(([, image]) => image);
  expect(images).toHaveLength(4);
  expect(
    images.filter((image) => !/^mirror\.example\.com\/all\/(drover|valkey)\//.test(image ?? "")),
  ).toEqual([]);
});

it("an image without a tag has the version of the chart, also from a registry with a port", async () => {
  const images = { bridge: "localhost:5000/bridge", deployer: "d@sha256:0", gateway: "localhost:5000/g:7" };
  const text = await helm.template({ images }, "--version=0.1.0");
  for (const image of ["localhost:5000/bridge:0.1.0", "d@sha256:0", "localhost:5000/g:7"])
    expect(text).toMatch(new RegExp(`image: ${image}$`, "m"));
});

describe("values that cannot be used are refused:", () => {
  it.each<[string, object, RegExp]>([
    ["no Redis at all", { valkey: { enabled: false } }, /give the address of your Redis in redis\.url/],
    ["a user in the URL", { redis: { url: "rediss://me@valkey:6379" } }, /redis.*url/s],
    ["a value that does not exist", { brigde: { replicas: 2 } }, /brigde/],
    ["a setting that does not exist", { bridge: { settings: { patrLease: "2s" } } }, /patrLease/],
    ["a setting of another part", { gateway: { settings: { sweepEvery: "2m" } } }, /sweepEvery/],
    ["a setting that the chart sets", { deployer: { settings: { redisUrl: "redis://x" } } }, /redisUrl/],
    ["no replicas", { deployer: { replicas: 0 } }, /replicas/],
    ["a tag alone", { images: { valkey: "" } }, /valkey/],
  ])("%s", async (_, values, words) => {
    await expect(helm.template(values)).rejects.toThrow(words);
  });
});

it("helm lint finds nothing", async () => {
  expect(await helm.run("lint", chart, "--strict")).toContain("0 chart(s) failed");
});

describe("a real API server", () => {
  let cluster: RealCluster;
  beforeAll(async () => {
    cluster = await startRealCluster();
    const restricted = "pod-security.kubernetes.io/enforce=restricted";
    await run(cluster.kubectl, ["create", "namespace", "drover"]);
    await run(cluster.kubectl, ["label", "namespace", "drover", restricted]);
  });
  afterAll(() => cluster.stop());
  it.each<[string, object]>([
    ["by default", {}],
    [
      "with everything",
      {
        keda: { enabled: true },
        bridge: { replicas: 2 },
        tenants: { enabled: true },
        priorityClassName: "high",
        tolerations: [{ operator: "Exists" }],
      },
    ],
    ["with a Redis of one's own", { ...given, networkPolicies: { redis: ["10.0.0.5/32"] } }],
  ])("accepts every object, and its Pods where the strictest standard is enforced: %s", async (_, values) => {
    const objects = await rendered(values, mutating);
    const pods = objects.flatMap(({ kind, metadata, ...rest }) => {
      const template = (rest["spec"] as { template?: object } | undefined)?.template;
      if (template === undefined) return [];
      const { spec } = template as { spec: { containers: object[]; volumes?: object[] } };
      // A StatefulSet adds its volumes to its Pods.
      const hasData = JSON.stringify(spec.containers).includes("/data");
      const volumes = [...(spec.volumes ?? []), ...(hasData ? [{ name: "data", emptyDir: {} }] : [])];
      // The class of a priority, and the account, are made by others.
      const {
        priorityClassName: _class,
        serviceAccountName: _account,
        ...plain
      } = spec as Record<string, unknown>;
      return [
        {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { ...metadata, name: `of-${metadata.name}-${kind.toLowerCase()}` },
          spec: { ...plain, volumes },
        },
      ];
    });
    expect(pods.length).toBeGreaterThanOrEqual(3);
    const applying = run(cluster.kubectl, ["apply", "--dry-run=server", "--server-side", "-f", "-"]);
    applying.child.stdin?.end(
      JSON.stringify({ apiVersion: "v1", kind: "List", items: [...objects, ...pods] }),
    );
    const { stdout, stderr } = await applying;
    expect(stdout.trim().split("\n")).toHaveLength(objects.length + pods.length);
    expect(stderr).not.toMatch(/unknown field|would violate/i);
  });

  it("takes all of it in one kubectl apply, with the namespace", async () => {
    const text = await helm.template({ createNamespace: true }, mutating, "--namespace=elsewhere");
    const applying = run(cluster.kubectl, ["apply", "-f", "-"]);
    applying.child.stdin?.end(text);
    const { stdout } = await applying;
    expect(stdout.trim().split("\n")).toHaveLength(manifestsIn(text).length);
    expect(stdout.replaceAll(/^.* created$/gm, "").trim()).toBe("");
  });
});
