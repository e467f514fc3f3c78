import { objectKey } from "@drover/controller";
import { builtin, createOrReplace, type KubeClient } from "@drover/kube";
import { build } from "esbuild";
import { createHash, randomUUID } from "node:crypto";
import { copyFile, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { built } from "./built.ts";
import { installKind, onCluster } from "./on-cluster.ts";
import { alone, type Peer } from "./peer.ts";

const name = "Pepr";
const sources = join(import.meta.dirname, "../controllers/pepr");
const cache = join(import.meta.dirname, "../../../.cache/bench-peers/pepr");

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
  const hash = createHash("sha256");
  const files = (await readdir(sources)).sort();
  for (const file of files) hash.update(file).update(await readFile(join(sources, file)));
  const folder = join(cache, hash.digest("hex").slice(0, 16));
  const outfile = join(folder, "dist/pepr.cjs");
  if (existsSync(outfile)) return outfile;
  log("installing Pepr");
  const unfinished = join(cache, randomUUID());
  await mkdir(unfinished, { recursive: true });
  for (const file of files) await copyFile(join(sources, file), join(unfinished, file));
  await built({
    command: "npm",
    args: ["ci", "--omit=dev", "--ignore-scripts", "--loglevel=error"],
    cwd: unfinished,
    logFile: `${cache}.log`,
    needs: "npm, and npm's registry",
  });
  await build({
    absWorkingDir: unfinished,
    entryPoints: ["pepr.ts"],
    outfile: "dist/pepr.cjs",
    bundle: true,
    platform: "node",
    format: "cjs",
    keepNames: true,
    minify: true,
    logLevel: "warning",
    external: ["pepr", "kubernetes-fluent-client", "@kubernetes/client-node"],
  });
  await rm(folder, { recursive: true, force: true });
  await rename(unfinished, folder);
  return outfile;
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
