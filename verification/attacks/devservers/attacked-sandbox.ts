import { type Sandbox, startSandbox } from "@drover/sandbox";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A sandbox, and a folder with its kubeconfig that goes away with it. */
export interface AttackedSandbox extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly folder: string;
  /** The path of the kubeconfig. */
  readonly kubeconfig: string;
}

export async function attackedSandbox(): Promise<AttackedSandbox> {
  const folder = mkdtempSync(join(tmpdir(), "drover-attack-"));
  const sandbox = await startSandbox();
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, sandbox.kubeconfig(), { mode: 0o600 });
  return {
    sandbox,
    folder,
    kubeconfig,
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      rmSync(folder, { recursive: true });
    },
  };
}
