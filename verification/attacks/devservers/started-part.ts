import { spawnTied } from "@drover/local-servers";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = new URL("../../..", import.meta.url).pathname;

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
  const [file, logFile] = [join(folder, "kubeconfig"), join(folder, "log")];
  writeFileSync(file, kubeconfig, { mode: 0o600 });
  const listening = Promise.withResolvers<string>();
  const child = await spawnTied({
    name: part,
    command: process.execPath,
    args: [join(root, `apps/${part}/src/main.ts`)],
    logFile,
    env: { NODE_COMPILE_CACHE: join(root, ".cache/compiled"), DROVER_KUBECONFIG: file, ...env },
    onLine: (line) => {
      const [, url] = /"url":"(http:[^"]+)".*Serving \/healthz/.exec(line) ?? [];
      if (url !== undefined) listening.resolve(url);
    },
  });
  const died = child.exited.then(() => {
    throw new Error(`${part} ended:\n${readFileSync(logFile, "utf8")}`);
  });
  died.catch(() => undefined);
  const stop = async (): Promise<void> => {
    await child.stop();
    rmSync(folder, { recursive: true });
  };
  try {
    return { url: await Promise.race([listening.promise, died]), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
