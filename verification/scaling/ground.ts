import { customResourceDefinition, reconcileFunctionOf } from "@drover/controller";
import { startRedis } from "@drover/local-servers";
import { join } from "node:path";
import { type DeployedWorld, startDeployedWorld } from "../end-to-end/stage/deployed-world.ts";
import { startWorld } from "../end-to-end/stage/world.ts";
import { inDefault, namespaceNamed } from "../harness/manifests.ts";
import { root } from "../harness/repository-files.ts";
import { Load, loadController } from "./loads.ts";

/** A cluster with bridge, deployer and a node, and functions deployed to it. */
export interface Ground extends DeployedWorld {
  readonly log: string;
}

const image = "load";

/** @param functions their names, and how many Pods each has at least. */
export async function startTestServers(functions: ReadonlyMap<string, number>): Promise<Ground> {
  const command = [process.execPath, join(root, "verification/scaling/loads.ts")];
  const starting = startWorld(() => startRedis({ persistence: false }));
  const world = await startDeployedWorld({ [image]: { command } }, {}, starting);
  const { cluster, folder } = world;
  await cluster.apply({ ...customResourceDefinition(Load) });
  const log = join(folder, "log");
  for (const [name, min] of functions) {
    await cluster.apply(namespaceNamed(name));
    await cluster.apply(deployed(name, { min, log }));
  }
  return { ...world, log };
}

function deployed(name: string, { min, log }: { readonly min: number; readonly log: string }) {
  const manifest = reconcileFunctionOf(loadController(name), {
    concurrency: 4,
    scaling: { min, max: 3, targetDue: 10, idleAfter: "1500ms" },
    container: {
      image,
      env: [
        { name: "DROVER_JOURNAL", value: log },
        { name: "DROVER_LOAD", value: name },
        { name: "DROVER_BY", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        { name: "DROVER_LEASE", value: "2s" },
      ],
    },
  });
  return inDefault(manifest);
}
