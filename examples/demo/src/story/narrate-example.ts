import { customResourceDefinition, type ObjectKey } from "@drover/controller";
import { builtin, connect, installCrd, type KubeClient, refOf } from "@drover/kube";
import { Bucket } from "@drover/s3-bucket";
import { repositoryPath } from "../repository-path.ts";
import { applyBucket, readBucket } from "./bucket-example.ts";
import { formatSeconds } from "./narrator.ts";
import { nextSteps } from "./next-steps.ts";
import type { DemoRun } from "../demo-run.ts";
import type { DemoServers } from "../servers/demo-servers.ts";
import { watchBuckets } from "./watch-buckets.ts";

// This module and its own imports load the clients of the API server and of S3, which takes a moment: `start.ts` loads
// it while the servers start.

/** Connects to the cluster. Rejects with the cause if it does not answer. */
export async function openCluster({ opened, request }: DemoRun, servers: DemoServers): Promise<KubeClient> {
  const { kubeconfig, context } = servers;
  const client = await connect({ kubeconfig, context, userAgent: "drover-start" });
  opened.push({ name: "the watch of Buckets", stop: () => client.close() });
  await client.list(builtin.crd, { limit: 1, metadataOnly: true, signal: request.signal });
  return client;
}

/** Installs the CRD of Bucket, generated from its schemas, and waits until it is served. */
export async function installBucketKind(
  { narrator, request: { signal } }: DemoRun,
  cluster: KubeClient,
): Promise<void> {
  const begun = performance.now();
  const { plural, group } = await installCrd(cluster, { ...customResourceDefinition(Bucket) }, { signal });
  narrator.print(`CRD ${plural}.${group} accepted and served (${formatSeconds(performance.now() - begun)})`);
}

/**
 * Applies the example, reports its progress until it is ready, and then prints the next steps. Changes of Buckets are
 * reported until the end.
 *
 * @param functionPid returns the process id of the bucket function, while it runs.
 */
export async function narrateExample(
  run: DemoRun,
  servers: DemoServers,
  cluster: KubeClient,
  functionPid: () => number | undefined,
): Promise<void> {
  const { narrator, request, folder, config } = run;
  const { signal } = request;
  const ref = refOf(Bucket);
  const example = await readBucket(repositoryPath("examples/bucket.yaml"));
  const { namespace, name } = example.manifest.metadata;
  const ready = Promise.withResolvers<string>();
  const onReady = (key: ObjectKey, bucket: string): void => {
    if (key === example.key) ready.resolve(bucket);
  };
  const { done } = await watchBuckets({ client: cluster, ref, s3: servers.s3, narrator, signal, onReady });
  const begun = performance.now();
  const did = await applyBucket(cluster, ref, example, signal);
  narrator.print(`${example.key}: examples/bucket.yaml ${did}`);
  const bucket = await withSlowHint(run, example.key, Promise.race([ready.promise, done]));
  if (bucket === undefined) return;
  const took = `${formatSeconds(performance.now() - begun)} after its object was ${did}`;
  const now = formatSeconds(performance.now());
  narrator.print(`bucket ready: ${bucket}, ${took}, ${now} after the start`, "good");
  const object = { namespace, name, bucket };
  const paths = { logs: folder.logs, path: config.path };
  narrator.printLines(nextSteps({ ...object, ...paths, servers, functionPid: functionPid() }));
}

/** If the object is not ready by then, print where to look for the reason. */
const slow = 30_000;

function withSlowHint<T>({ narrator, folder }: DemoRun, key: ObjectKey, ready: Promise<T>): Promise<T> {
  const hint = `${key} is not ready yet. Its Ready condition and the logs may show why: ${folder.logs}`;
  const timer = setTimeout(() => narrator.print(hint, "bad"), slow);
  return ready.finally(() => clearTimeout(timer));
}
