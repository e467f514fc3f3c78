import { answersOk, spawnTied, waitUntilReady } from "@drover/local-servers";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { urlToHttpOptions } from "node:url";
import { parse } from "yaml";
import { z } from "zod";
import { repositoryPath } from "../repository-path.ts";
import type { DemoRun } from "../demo-run.ts";

/** Starts the sandbox, an in-memory API server, as a separate process, and waits until it answers. If it ends, the run ends: its objects are lost. */
export async function startSandboxProcess(
  { config, folder, request, opened }: DemoRun,
  signal: AbortSignal,
): Promise<{ readonly url: string; readonly pid: number }> {
  const child = await spawnTied({
    name: "the API server",
    command: process.execPath,
    args: [repositoryPath("apps/sandbox/src/main.ts")],
    env: config.processEnvironment({
      DROVER_SANDBOX_PORT: "0",
      DROVER_KUBECONFIG_OUT: folder.kubeconfig,
      DROVER_LOG_LEVEL: config.logLevel,
    }),
    logFile: join(folder.logs, "api-server.log"),
  });
  folder.noteProcess("api-server", child.pid);
  opened.push({ name: "the API server", stop: () => child.stop().then(() => undefined) });
  let url: string | undefined;
  const answers = async (): Promise<boolean> => {
    url ??= serverIn(folder.kubeconfig);
    return url !== undefined && (await isServerReady(url));
  };
  await waitUntilReady(child, answers, { signal });
  void child.exited.then(() => {
    const problem = `The API server ended by itself, and all objects with it. Its log: ${child.logFile}`;
    request.stop({ kind: "broken", problem });
  });
  return { url: url ?? "", pid: child.pid };
}

const kubeconfigSchema = z.object({
  clusters: z.tuple([z.object({ cluster: z.object({ server: z.string() }) })], z.unknown()),
});

/** The first server in a kubeconfig; undefined until the file is complete. */
function serverIn(file: string): string | undefined {
  try {
    return kubeconfigSchema.safeParse(parse(readFileSync(file, "utf8"))).data?.clusters[0].cluster.server;
  } catch {
    return undefined;
  }
}

/** True if a server of this run reports that it is ready. */
export const isServerReady = (url: string): Promise<boolean> =>
  answersOk(urlToHttpOptions(new URL(`${url}/readyz`)));
