import { objectKey } from "@drover/controller";
import { builtin, createOrReplace, type KubeClient } from "@drover/kube";
import { build } from "esbuild";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { built, builtFrom, cacheFolder } from "../../bridge/contenders/built.ts";
import { installKind, onCluster } from "./on-cluster.ts";
import { alone, type Peer } from "./peer.ts";

const name = "Pepr";
const sources = join(import.meta.dirname, "../controllers/pepr");
const bundled = "dist/pepr.cjs";

/** The process that watches, with the environment of its Deployment. */
export const pepr: Peer = {
  name,
  async prepare(log) {
    const env = { PEPR_WATCH_MODE: "true", PEPR_PRETTY_LOG: "false", LOG_LEVEL: "info" };
    const take = alone(name, { command: process.execPath, args: [await builtModule(log)], env });
    return async (ground) => {
      await onCluster(ground.kubeconfig, install);
      const contestant = await take(ground);
      return { ...contestant, close: () => onCluster(ground.kubeconfig, removeStore) };
    };
  },
};

/** Installs Pepr, and bundles the module as `pepr build` does: without Pepr and Kubernetes' client. */
async function builtModule(log: (line: string) => void): Promise<string> {
  const folder = await builtFrom(sources, "bench-peers/pepr", async (temporary, files) => {
    log("installing Pepr");
    for (const file of files) await copyFile(join(sources, file), join(temporary, file));
    await built({
      command: "npm",
      args: ["ci", "--omit=dev", "--ignore-scripts", "--loglevel=error"],
      cwd: temporary,
      logFile: join(cacheFolder, "bench-peers/pepr.log"),
      needs: "npm, and npm's registry",
    });
    await build({
      absWorkingDir: temporary,
      entryPoints: ["pepr.ts"],
      outfile: bundled,
      bundle: true,
      platform: "node",
      format: "cjs",
      keepNames: true,
      minify: true,
      logLevel: "warning",
      external: ["pepr", "kubernetes-fluent-client", "@kubernetes/client-node"],
    });
    return temporary;
  });
  return join(folder, bundled);
}

const store = { group: "pepr.dev", version: "v1", plural: "peprstores", kind: "PeprStore", namespaced: true };
const namespace = "pepr-system";

/** What `pepr deploy` leaves there for the process that watches: it keeps a store of what its capabilities ask it to. */
async function install(client: KubeClient): Promise<void> {
  await createOrReplace(client, builtin.namespace, { metadata: { name: namespace } });
  const data = { type: "object", additionalProperties: { type: "string" } };
  await installKind(client, store, { schema: { type: "object", properties: { data } } });
}

async function removeStore(client: KubeClient): Promise<void> {
  await client.delete(store, objectKey({ namespace, name: "pepr-bench-peers-store" }));
  await client.delete(store, objectKey({ namespace, name: "pepr-bench-peers-schedule" }));
}
