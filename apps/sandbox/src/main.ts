/**
 * # The sandbox, as a process
 *
 * Serves the API server of `@drover/sandbox`, for the demo and for docker-compose, until SIGTERM. Everything is in
 * memory, and is lost then.
 */
import { logUncaught, openLog, stopOnSignals } from "@drover/runtime";
import { startSandbox } from "@drover/sandbox";
import { once } from "node:events";
import { rename, writeFile } from "node:fs/promises";
import { sandboxConfig } from "./config.ts";

let log = openLog({ process: "sandbox" });
logUncaught(() => log);
try {
  const { sandboxHost: host, sandboxPort: port, sandboxNames: hosts, ...settings } = sandboxConfig();
  const { sandboxToken: token, kubeconfigOut, logLevel: level } = settings;
  log = openLog({ process: "sandbox", level });
  const stopped = once(stopOnSignals(log).signal, "abort");
  const sandbox = await startSandbox({ host, port, hosts, ...(token !== undefined && { token }) });
  if (kubeconfigOut !== undefined) await writeWhole(kubeconfigOut, sandbox.kubeconfig());
  log.info({ url: sandbox.url, kubeconfig: kubeconfigOut }, "Serving the Kubernetes API");
  await stopped;
  await sandbox.close();
  log.info("Stopped");
} catch (error) {
  log.fatal({ err: error }, error instanceof Error ? error.message : "The process failed");
  process.exitCode = 1;
}

/** Writes the file atomically: a process that waits for it never reads a part of it. */
async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
