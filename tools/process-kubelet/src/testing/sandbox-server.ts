import { startSandbox } from "@drover/sandbox";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NodeTestServer } from "./test-node.ts";

/** A sandbox with its kubeconfig in a file. */
export async function sandboxServer(): Promise<NodeTestServer> {
  const sandbox = await startSandbox();
  const folder = await mkdtemp(join(tmpdir(), "drover-node-server-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, sandbox.kubeconfig(), { mode: 0o600 });
  return {
    kubeconfig,
    async stop() {
      await sandbox.close();
      await rm(folder, { recursive: true });
    },
  };
}
