// A real kubectl in front of a sandbox.
import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "../sandbox.ts";
import { kubectlPath } from "./config.ts";

export interface Kubectl {
  readonly env: Readonly<Record<string, string>>;
  /** What it prints; rejects with what it complains about. */
  readonly run: (...args: string[]) => Promise<string>;
  /** What it prints and complains about, and how it exits, where that is no failure. */
  readonly exit: (...args: string[]) => Promise<{ code: number; printed: string }>;
  /** The path of a file with this content, as JSON. */
  readonly file: (content: unknown) => Promise<string>;
  /** Runs with an editor that is this shell command on a file's path. */
  readonly edit: (command: string, ...args: string[]) => Promise<string>;
  /** Removes its files. */
  readonly close: () => Promise<void>;
}

/** Makes a folder for kubectl's files, with a kubeconfig for the sandbox. */
export async function kubectlFor(sandbox: Pick<Sandbox, "kubeconfig">): Promise<Kubectl> {
  const folder = await mkdtemp(join(tmpdir(), "drover-kubectl-"));
  const env = { HOME: folder, KUBECONFIG: join(folder, "kubeconfig"), PATH: "/usr/bin:/bin" };
  await writeFile(env.KUBECONFIG, sandbox.kubeconfig());
  let files = 0;
  const next = (): string => join(folder, String((files += 1)));
  const exit = (args: readonly string[], more: Record<string, string> = {}) =>
    new Promise<{ code: number; out: string; complaint: string }>((resolve) => {
      execFile(kubectlPath(), args, { env: { ...env, ...more } }, (error, out, complaint) => {
        const code = error ? (typeof error.code === "number" ? error.code : 1) : 0;
        resolve({ code, out, complaint: complaint || (error?.message ?? "") });
      });
    });
  const run = async (args: readonly string[], more?: Record<string, string>): Promise<string> => {
    const { code, out, complaint } = await exit(args, more);
    if (code !== 0) throw new Error(complaint);
    return out;
  };
  return {
    env,
    run: (...args) => run(args),
    async exit(...args) {
      const { code, out, complaint } = await exit(args);
      return { code, printed: out + (code === 0 ? "" : complaint) };
    },
    async file(content) {
      const path = `${next()}.json`;
      await writeFile(path, JSON.stringify(content));
      return path;
    },
    async edit(command, ...args) {
      const editor = `${next()}.sh`;
      await writeFile(editor, `#!/bin/sh\n${command}\n`);
      await chmod(editor, 0o700);
      return run(args, { KUBE_EDITOR: editor });
    },
    close: () => rm(folder, { recursive: true }),
  };
}
