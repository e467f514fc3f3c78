import { customResourceDefinition, ReconcileFunction, silentLog } from "@drover/controller";
import { builtin, createOrReplace, installCrd, type KubeClient, refOf } from "@drover/kube";
import { startNode } from "@drover/process-kubelet";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { repositoryPath } from "../repository-path.ts";
import { startDeployer } from "./drover-processes.ts";
import { narratePods } from "../story/pod-story.ts";
import type { DemoRun } from "../demo-run.ts";
import type { DemoServers } from "../servers/demo-servers.ts";

const image = "drover/s3-bucket";
const namespace = "default";

/**
 * Deploys the bucket function to the run's own API server: a node runs Pods as processes of this machine, and the
 * deployer scales them with the work. Returns a function that returns the id of a running process, if there is one.
 */
export async function deployBucketFunction(
  run: DemoRun,
  servers: DemoServers,
  client: KubeClient,
): Promise<() => number | undefined> {
  const { signal } = run.request;
  // Bridge and deployer renew their Leases in this namespace.
  await createOrReplace(client, builtin.namespace, { metadata: { name: "drover" } }, { signal });
  await installCrd(client, { ...customResourceDefinition(ReconcileFunction) }, { signal });
  const images = {
    [image]: { command: [process.execPath, repositoryPath("functions/s3-bucket/src/main.ts")] },
  };
  // A node provides credentials to its Pods, as machines in a cloud do.
  const node = await startNode({
    client,
    name: "this-machine",
    images,
    folder: join(run.folder.logs, "pods"),
    log: silentLog,
    env: present({ PATH: run.config.path, KUBECONFIG: servers.kubeconfig, ...servers.s3.credentials }),
  });
  run.opened.push({ name: "the node", stop: () => node.stop() });
  const processNow = narratePods(run, client);
  const deployer = manifestIn("apps/deployer/deploy/function.yaml");
  await createOrReplace(client, refOf(ReconcileFunction), deployer, { signal });
  await startDeployer(run, servers);
  const { spec, ...bucket } = manifestIn("functions/s3-bucket/deploy/function.yaml");
  const env = Object.entries(present(servers.s3.settings)).map(([name, value]) => ({ name, value }));
  // Well below the example's `pollInterval`, so that no Pod runs between two checks of its bucket.
  const scaling = { min: 0, max: 3, idleAfter: "10s" };
  const deployed = { ...bucket, spec: { ...spec, container: { image, env }, scaling } };
  await createOrReplace(client, refOf(ReconcileFunction), deployed, { signal });
  run.narrator.print(
    "The bucket function is deployed: one Pod shows that it starts, and goes when nothing is to be done",
  );
  return processNow;
}

const manifestSchema = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.looseObject({}),
});

function manifestIn(file: string) {
  const { metadata, spec } = manifestSchema.parse(parse(readFileSync(repositoryPath(file), "utf8")));
  return { metadata: { ...metadata, namespace }, spec };
}

const present = (variables: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
