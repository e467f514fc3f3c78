import { spawnTied, waitUntilReady } from "@drover/local-servers";
import { existsSync, readFileSync } from "node:fs";
import { chown } from "node:fs/promises";
import { join, resolve } from "node:path";
import { allReady, bucketObjects } from "./bucket-objects.ts";
import type { Checks } from "./checks.ts";
import type { Project } from "./containers.ts";
import { run } from "./run.ts";
import { expectBuckets } from "./s3-buckets.ts";

/** An address of this (network namespace's) machine that containers can reach, as a cluster's would be. */
const host = "10.254.0.1";
const port = 6443;
const apiServer = `http://${host}:${port}`;
/** The only user that may read the kubeconfig. */
const user = { uid: 4321, gid: 4321 };

/** The profile `cluster`: an API server that is none of the containers, and a kubeconfig that only its owner may read. */
export async function runOnCluster(
  { check }: Checks,
  dir: string,
  open: (env: Readonly<Record<string, string>>) => Project,
): Promise<void> {
  const kubeconfig = join(dir, "kubeconfig");
  const project = open({
    COMPOSE_PROFILES: "cluster",
    DROVER_KUBECONFIG_FILE: kubeconfig,
    DROVER_USER: `${user.uid}:${user.gid}`,
  });
  await check("with the profile `cluster`, Buckets of a server elsewhere become Ready", async () => {
    const server = await startServer(dir, kubeconfig);
    try {
      await chown(kubeconfig, user.uid, user.gid);
      await project.up();
      for (const service of ["bridge", "bucket"])
        await project.untilHealthy(await project.one(service), AbortSignal.timeout(60_000));
      if ((await project.containers("sandbox")).length > 0) throw new Error("The sandbox runs too.");
      const objects = bucketObjects(apiServer, tokenIn(kubeconfig));
      await objects.create("elsewhere");
      await objects.until(allReady(["elsewhere"]), AbortSignal.timeout(60_000));
      await expectBuckets(project, (names) => names.has("elsewhere"));
    } finally {
      await project.compose("down", "--volumes");
      await server.stop();
    }
  });
}

/** The token of the kubeconfig that the server has written. */
const tokenIn = (kubeconfig: string): string =>
  /token: "(\w+)"/.exec(readFileSync(kubeconfig, "utf8"))?.[1] ?? "";

async function startServer(dir: string, kubeconfig: string) {
  await run(["ip", "address", "add", `${host}/32`, "dev", "lo"]);
  const child = await spawnTied({
    name: "the API server",
    command: process.execPath,
    args: [resolve(import.meta.dirname, "../../dist/sandbox/main.mjs")],
    env: {
      DROVER_SANDBOX_HOST: host,
      DROVER_SANDBOX_PORT: String(port),
      DROVER_KUBECONFIG_OUT: kubeconfig,
    },
    logFile: join(dir, "api-server.log"),
  });
  // The server writes the kubeconfig once it listens.
  await waitUntilReady(child, () => Promise.resolve(existsSync(kubeconfig)));
  return child;
}
