import { customResourceDefinition, embeddedManifestsOf, objectKey } from "@drover/controller";
import { builtin, connect, installCrd, type KubeClient, refOf } from "@drover/kube";
import { freePort, type RedisServer, spawnTied, startRedis, type TiedProcess } from "@drover/local-servers";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { folderOfFile } from "../../testing/src/folder.fixture.ts";
import { Cup, cups } from "./testing/cups.ts";

const main = new URL("testing/cups.ts", import.meta.url).pathname;
const cup = refOf(Cup);
const key = objectKey({ namespace: "default", name: "mine" });
let cluster: RealCluster;
let redis: RedisServer;
let admin: KubeClient;
const folder = folderOfFile();
let child: TiedProcess | undefined;
const kubectl = (args: readonly string[], input = ""): string =>
  execFileSync(cluster.kubectl, args, { input }).toString();

beforeAll(async () => {
  [cluster, redis] = await Promise.all([startRealCluster(), startRedis({ persistence: false })]);
  admin = await connect({ kubeconfig: cluster.kubeconfig });
  await installCrd(admin, { ...customResourceDefinition(Cup) });
}, 900_000);
afterAll(async () => {
  await child?.stop();
  await admin.close();
  await Promise.all([cluster.stop(), redis.stop()]);
});

const deploymentSchema = z.object({
  kind: z.literal("Deployment"),
  spec: z.object({
    template: z.object({
      spec: z.object({
        containers: z.tuple([
          z.object({ env: z.array(z.object({ name: z.string(), value: z.string().optional() })) }),
        ]),
      }),
    }),
  }),
});

it("the API server accepts the output of drover generate --embedded, and its permissions are enough for an object's life", async () => {
  const manifests = embeddedManifestsOf(cups);
  kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests }));
  const deployment = manifests.flatMap((one) => deploymentSchema.safeParse(one).data ?? []);
  const plain = deployment.flatMap(({ spec }) =>
    spec.template.spec.containers[0].env.flatMap(({ name, value }) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  );
  const port = await freePort();
  const logFile = join(folder, "cups.log");
  child = await spawnTied({
    name: "cups",
    command: process.execPath,
    args: [main],
    logFile,
    env: {
      ...Object.fromEntries(plain),
      DROVER_TEST_CLUSTER: undefined,
      DROVER_KUBECTL: undefined,
      DROVER_HTTP_PORT: String(port),
      DROVER_REDIS_URL: redis.url,
      DROVER_KUBECONFIG: await cluster.kubeconfigOfAccount("default", "cups.example.com"),
    },
  });
  const isReady = () => fetch(`http://127.0.0.1:${port}/readyz`).then(({ status }) => status);
  await expect.poll(() => isReady().catch(() => 0), { timeout: 60_000 }).toBe(200);

  await admin.create(cup, { metadata: { name: "mine", namespace: "default" }, spec: {} });
  const events = async () => (await admin.list(builtin.event, { namespace: "default" })).items.length;
  await expect.poll(events, { timeout: 60_000 }).toBeGreaterThan(0);
  await admin.create(builtin.secret, {
    metadata: { name: "tea", namespace: "default" },
    data: { kind: Buffer.from("green").toString("base64") },
  });
  await expect
    .poll(() => admin.get(cup, key), { timeout: 60_000 })
    .toMatchObject({ status: { tea: "green" } });
  await admin.delete(cup, key);
  await expect.poll(() => admin.get(cup, key), { timeout: 60_000 }).toBeUndefined();
  await child.stop();
  expect(readFileSync(logFile, "utf8")).not.toMatch(/answered 403|[Ff]orbidden/);
}, 240_000);
