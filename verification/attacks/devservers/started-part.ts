import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProcess } from "../../harness/start-process.ts";

/** A shipped process of Drover, which listens on a port of its own. */
export interface StartedPart {
  readonly url: string;
  stop(): Promise<void>;
}

/** @param kubeconfig its content. */
export async function startPart(
  part: "bridge" | "deployer" | "gateway",
  { kubeconfig, env }: { readonly kubeconfig: string; readonly env: Readonly<Record<string, string>> },
): Promise<StartedPart> {
  const folder = mkdtempSync(join(tmpdir(), `drover-attacked-${part}-`));
  const file = join(folder, "kubeconfig");
  writeFileSync(file, kubeconfig, { mode: 0o600 });
  const process = await startProcess({
    name: part,
    main: `apps/${part}/src/main.ts`,
    logFile: join(folder, "log"),
    awaited: "Serving /healthz",
    env: { DROVER_KUBECONFIG: file, ...env },
  });
  return {
    url: process.url,
    async stop() {
      await process.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
