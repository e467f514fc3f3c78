import { resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { ensureBuilders } from "../../infra/compose/host-tools.ts";
import { root } from "../harness/repository-files.ts";
import { type PodCluster, startPodCluster } from "./pod-cluster.ts";

const names = ["bridge", "deployer"];
const release = {
  version: "0.1.0",
  revision: "0123456789abcdef0123456789abcdef01234567",
  source: "https://git.example.com/drover",
  // 2026-01-02T03:04:05Z
  created: 1_767_323_045,
};
let cluster: PodCluster;
let registry: string;
let digests: readonly Readonly<Record<string, string>>[];

beforeAll(async () => {
  await ensureBuilders();
  cluster = await startPodCluster();
  const options = {
    ...release,
    dir: `${cluster.dir}/images`,
    names,
    registries: ["drover", "again"].map((folder) => `${cluster.registry}/${folder}`),
  };
  const program = resolve(root, "infra/cluster/publish-inside.ts");
  const written = await cluster.exec([process.execPath, program, JSON.stringify(options)]);
  digests = z
    .array(z.record(z.string(), z.string()))
    .parse(JSON.parse(written.trim().split("\n").at(-1) ?? ""));
  const [host = "", port = ""] = cluster.registry.split(":");
  registry = `http://127.0.0.1:${(await cluster.reach(host, Number(port))).port}`;
}, 900_000);
afterAll(() => cluster.stop());

const descriptor = z.looseObject({
  digest: z.string(),
  platform: z.object({ architecture: z.string(), os: z.string() }).optional(),
});
const indexSchema = z.object({ mediaType: z.string(), manifests: z.array(descriptor) });
const manifestSchema = z.object({ config: descriptor, layers: z.array(descriptor) });
const configSchema = z.looseObject({
  architecture: z.string(),
  created: z.string(),
  config: z.looseObject({ Labels: z.record(z.string(), z.string()), User: z.string() }),
});

async function read<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.output<Schema>> {
  const accept = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json";
  const answer = await fetch(`${registry}/v2/drover/${path}`, { headers: { accept } });
  expect(answer.status, path).toBe(200);
  return schema.parse(await answer.json());
}
/** The manifests of an image, with their configurations. */
async function platformsOf(name: string) {
  const { manifests } = await read(`${name}/manifests/${release.version}`, indexSchema);
  return Promise.all(
    manifests.map(async ({ digest, platform }) => {
      const { config, layers } = await read(`${name}/manifests/${digest}`, manifestSchema);
      const own = await read(`${name}/blobs/${config.digest}`, configSchema);
      return { platform, layers: layers.map((layer) => layer.digest), config: own };
    }),
  );
}

it.each(names)("%s is an index for amd64 and arm64, with the same layer of Drover's", async (name) => {
  const platforms = await platformsOf(name);
  expect(platforms.map(({ platform }) => `${platform?.os}/${platform?.architecture}`)).toEqual([
    "linux/amd64",
    "linux/arm64",
  ]);
  expect(platforms.map(({ config }) => config.architecture)).toEqual(["amd64", "arm64"]);
  const [amd64 = [], arm64 = []] = platforms.map(({ layers }) => layers);
  expect(amd64.at(-1)).toBe(arm64.at(-1));
});

it.each(names)("%s has the labels of the Open Container Initiative", async (name) => {
  for (const { config } of await platformsOf(name)) {
    expect(config.config.Labels).toMatchObject({
      "org.opencontainers.image.title": `drover/${name}`,
      "org.opencontainers.image.licenses": "Apache-2.0",
      "org.opencontainers.image.version": release.version,
      "org.opencontainers.image.revision": release.revision,
      "org.opencontainers.image.source": release.source,
      "org.opencontainers.image.created": "2026-01-02T03:04:05Z",
    });
    expect(Date.parse(config.created)).toBe(release.created * 1_000);
    expect(config.config.User).toBe("65532:65532");
  }
});

it("built twice, bundles included, every index has the same digest", () => {
  const [first, second] = digests;
  expect(Object.keys(first ?? {})).toEqual(names);
  expect(second).toEqual(first);
});

it("a Pod runs the image of its processor, with the licences and the list of what it contains", async () => {
  const script =
    "const read = (name) => require('node:fs').readFileSync('/app/' + name, 'utf8');" +
    "const { components } = JSON.parse(read('sbom.cdx.json'));" +
    "const licences = read('LICENCES.txt');" +
    "const absent = components.filter(({ name, version }) => !licences.includes(name + ' ' + version + ' ('));" +
    "console.log(process.arch, components.length > 5, absent.length, read('LICENSE').includes('Apache License'), read('NOTICE').split('\\n')[0]);";
  await cluster.apply({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "published" },
    spec: {
      restartPolicy: "Never",
      containers: [
        {
          name: "main",
          image: `registry.example.com/drover/bridge:${release.version}`,
          command: ["node", "-e", script],
        },
      ],
    },
  });
  await cluster.wait("jsonpath={.status.phase}=Succeeded", "pod/published");
  const arch = process.arch;
  expect((await cluster.kubectl(["logs", "published"])).trim()).toBe(`${arch} true 0 true Drover`);
});
