import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProcess } from "../../harness/start-process.ts";

/** Starts a shipped process of Drover, which listens on a port of its own. */
export async function startPart(
  part: "bridge" | "deployer" | "gateway",
  env: Readonly<Record<string, string>>,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const folder = mkdtempSync(join(tmpdir(), `drover-attacked-${part}-`));
  const child = await startProcess({
    name: part,
    main: `apps/${part}/src/main.ts`,
    logFile: join(folder, "log"),
    awaited: "Serving /healthz",
    env,
  });
  return {
    url: child.url,
    async [Symbol.asyncDispose]() {
      await child.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
