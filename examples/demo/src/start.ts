import { messageOf } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import { once } from "node:events";
import type { DemoConfig } from "./config.ts";
import { closeInOrder } from "./close-in-order.ts";
import { startBridge, startBucketFunction } from "./processes/drover-processes.ts";
import { narrator as openNarrator } from "./story/narrator.ts";
import type { DemoRun, DemoOptions } from "./demo-run.ts";
import { RunFolderError, type RunFolder, lockRunFolder } from "./run-folder.ts";
import { type DemoServers, startServers } from "./servers/demo-servers.ts";
import { orStop, requestStopOnSignals, stopRequest } from "./stop-request.ts";

/** Runs the demo from start to stop. Returns the exit code. */
export async function startDemo(options: DemoOptions, config: DemoConfig): Promise<number> {
  const folder = folderOrReason(options);
  if (typeof folder === "string") {
    console.error(folder);
    return 1;
  }
  const { stdout } = process;
  const narrator = openNarrator(stdout, stdout.isTTY && stdout.hasColors(), () => performance.now());
  const request = stopRequest();
  requestStopOnSignals(request);
  const run: DemoRun = { options, config, folder, narrator, request, opened: [] };
  const { print } = narrator;
  if (folder.crashed !== undefined) {
    print(
      `The run of process ${folder.crashed.pid} ended without cleaning up. The files that it left are removed.`,
    );
  }
  try {
    await runDemo(run);
  } catch (error) {
    // Has no effect if a stop was requested before: failures during the stop do not replace the first reason.
    request.stop({ kind: "broken", problem: messageOf(error) });
  }
  const code = await stopDemo(run);
  folder.release();
  return code;
}

function folderOrReason({ dir, kubeconfig }: DemoOptions): RunFolder | string {
  try {
    return lockRunFolder(dir, kubeconfig);
  } catch (error) {
    if (error instanceof RunFolderError) return error.message;
    throw error;
  }
}

/** Starts everything, applies the example, and reports changes until a stop is requested. */
async function runDemo(run: DemoRun): Promise<void> {
  const { narrator, request } = run;
  const { signal } = request;
  narrator.print("Starting the servers and Drover's processes");
  const starting = startServers(run);
  // Load the clients while the servers start: both take a moment.
  const [servers, { openCluster, installBucketKind, narrateExample }] = await Promise.all([
    starting,
    import("./story/narrate-example.ts"),
  ]);
  const cluster = await openCluster(run, servers);
  const starts = [
    orStop(
      request,
      installBucketKind(run, cluster).then(() => startBridge(run, servers)),
    ),
    orStop(request, bucketFunction(run, servers, cluster)),
  ] as const;
  await Promise.allSettled(starts);
  const [, functionPid] = await Promise.all(starts);
  await narrateExample(run, servers, cluster, functionPid);
  if (!signal.aborted) await once(signal, "abort");
}

/**
 * On the run's own API server the function is deployed, and scales from zero. For a given cluster it is a process that
 * stays.
 */
async function bucketFunction(
  run: DemoRun,
  servers: DemoServers,
  cluster: KubeClient,
): Promise<() => number | undefined> {
  if (servers.sandboxUrl === undefined) {
    const kept = await startBucketFunction(run, servers);
    return () => kept.pid;
  }
  const { deployBucketFunction } = await import("./processes/deploy-bucket-function.ts");
  return deployBucketFunction(run, servers, cluster);
}

async function stopDemo({ narrator, request, opened, options }: DemoRun): Promise<number> {
  const reason = request.reason() ?? { kind: "asked" };
  if (reason.kind === "broken") narrator.print(reason.problem, "bad");
  narrator.print("Stopping (Ctrl-C again ends it at once)");
  const clean = await closeInOrder(opened, narrator);
  narrator.print(
    clean ? "Everything that was started here is stopped." : "Not everything stopped as it should.",
  );
  if (options.kubeconfig !== undefined) {
    narrator.print(
      "Bucket objects in the cluster are left as they are. Their finalizers need Drover to run: start it again to delete them.",
    );
  }
  return clean && reason.kind === "asked" ? 0 : 1;
}
