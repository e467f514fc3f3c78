import { messageOf } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import { once } from "node:events";
import type { CliConfig } from "../config.ts";
import { closeInOrder } from "./closing.ts";
import { startBridge, startBucketFunction } from "./drover-processes.ts";
import { narrator as openNarrator } from "./narrator.ts";
import type { Run, StartOptions } from "./run.ts";
import { AlreadyRunningError, type RunFolder, takeRunFolder } from "./run-folder.ts";
import { type Servers, startServers } from "./servers.ts";
import { orStop, stopOnSignals, stopRequest } from "./stop-request.ts";

/** Runs the demo from start to stop. Returns the exit code. */
export async function startDemo(options: StartOptions, config: CliConfig): Promise<number> {
  const folder = folderOrReason(options);
  if (typeof folder === "string") {
    console.error(folder);
    return 1;
  }
  const { stdout } = process;
  const narrator = openNarrator(stdout, stdout.isTTY && stdout.hasColors(), () => performance.now());
  const request = stopRequest();
  stopOnSignals(request);
  const run: Run = { options, config, folder, narrator, request, opened: [] };
  const { say } = narrator;
  if (folder.crashed !== undefined) {
    say(
      `The run of process ${folder.crashed.pid} ended without cleaning up. The files that it left are removed.`,
    );
  }
  try {
    await live(run);
  } catch (error) {
    // Has no effect if a stop was requested before: failures during the stop do not replace the first reason.
    request.stop({ kind: "broken", problem: messageOf(error) });
  }
  const code = await end(run);
  folder.release();
  return code;
}

function folderOrReason({ dir, kubeconfig }: StartOptions): RunFolder | string {
  try {
    return takeRunFolder(dir, kubeconfig);
  } catch (error) {
    if (error instanceof AlreadyRunningError) return error.message;
    throw error;
  }
}

/** Starts everything, applies the example, and reports changes until a stop is requested. */
async function live(run: Run): Promise<void> {
  const { narrator, request } = run;
  const { signal } = request;
  narrator.say("Starting the servers and Drover's processes");
  const starting = startServers(run);
  // Load the clients while the servers start: both take a moment.
  const [servers, { openCluster, installBucketKind, tellOfExample }] = await Promise.all([
    starting,
    import("./cluster.ts"),
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
  await tellOfExample(run, { servers, cluster, functionPid });
  if (!signal.aborted) await once(signal, "abort");
}

/**
 * On the run's own API server the function is deployed, and scales from zero. For a given cluster it is a process that
 * stays.
 */
async function bucketFunction(
  run: Run,
  servers: Servers,
  cluster: KubeClient,
): Promise<() => number | undefined> {
  if (servers.sandboxUrl === undefined) {
    const kept = await startBucketFunction(run, servers);
    return () => kept.pid;
  }
  const { deployBucketFunction } = await import("./deploy-bucket-function.ts");
  return deployBucketFunction(run, servers, cluster);
}

async function end({ narrator, request, opened, options }: Run): Promise<number> {
  const reason = request.reason() ?? { kind: "asked" };
  if (reason.kind === "broken") narrator.say(reason.problem, "bad");
  narrator.say("Stopping (Ctrl-C again ends it at once)");
  const clean = await closeInOrder(opened, narrator);
  narrator.say(
    clean ? "Everything that was started here is stopped." : "Not everything stopped as it should.",
  );
  if (options.kubeconfig !== undefined) {
    narrator.say(
      "Bucket objects in the cluster are left as they are. Their finalizers need Drover to run: start it again to delete them.",
    );
  }
  return clean && reason.kind === "asked" ? 0 : 1;
}
