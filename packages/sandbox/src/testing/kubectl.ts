// A real kubectl in front of a sandbox.
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "../sandbox.ts";
import { kubectlPath } from "./config.ts";

export interface Kubectl {
  readonly env: Readonly<Record<string, string>>;
  /** What it prints; rejects with what it complains about. */
  readonly run: (...args: string[]) => Promise<string>;
  /** The path of a file with this content, as JSON. */
  readonly file: (content: unknown) => Promise<string>;
  /** Removes its files. */
  readonly close: () => Promise<void>;
}

/** Makes a folder for kubectl's files, with a kubeconfig for the sandbox. */
export async function kubectlFor(sandbox: Pick<Sandbox, "kubeconfig">): Promise<Kubectl> {
  const folder = await mkdtemp(join(tmpdir(), "drover-kubectl-"));
  const env = { HOME: folder, KUBECONFIG: join(folder, "kubeconfig"), PATH: "/usr/bin:/bin" };
  await writeFile(env.KUBECONFIG, sandbox.kubeconfig());
  let files = 0;
  return {
    env,
    run: (...args) =>
      new Promise((resolve, reject) => {
        execFile(kubectlPath(), args, { env }, (error, out, complaint) => {
          if (error) reject(new Error(complaint || error.message));
          else resolve(out);
        });
      }),
    async file(content) {
      const path = join(folder, `${(files += 1)}.json`);
      await writeFile(path, JSON.stringify(content));
      return path;
    },
    close: () => rm(folder, { recursive: true }),
  };
}
