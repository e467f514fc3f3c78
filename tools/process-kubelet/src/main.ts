/**
 * # The node, as a process
 *
 * Runs pods until SIGTERM; a second signal ends it at once, and its pods' processes with it.
 */
import { messageOf } from "@drover/controller";
import { openLog, stopOnSignals } from "@drover/runtime";
import { resolve } from "node:path";
import { nodeConfig } from "./config.ts";
import { startNode } from "./start-node.ts";

let log = openLog({ process: "node" });
try {
  const settings = nodeConfig();
  const { kubeconfig, nodeImages: images, nodeName: name, nodeProbePeriod: probePeriod } = settings;
  const { nodePodCidr: podCidr } = settings;
  log = openLog({ process: "node", level: settings.logLevel });
  const { signal } = stopOnSignals(log);
  const node = await startNode({
    kubeconfig,
    images,
    name,
    log,
    signal,
    env: settings.nodeEnv,
    folder: resolve(settings.nodeFolder),
    ...(podCidr !== undefined && { podCidr }),
    ...(probePeriod !== undefined && { probePeriod }),
  });
  await node.ended;
  log.info("Stopped");
} catch (error) {
  log.fatal({ err: error }, messageOf(error));
  process.exitCode = 1;
}
