import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { newToken } from "@drover/listener";

const root = resolve(import.meta.dirname, "../..");

/** Where docker-compose.yml looks for what it needs to get at the sandbox. Only the owner enters the folder. */
export const accessFolder = join(root, ".run/compose");

/** Files with the sandbox's token. */
export interface ComposeAccess {
  readonly token: string;
  /** For programs of this machine. */
  readonly kubeconfig: string;
}

/**
 * Makes the sandbox's token, once, and writes it to where docker-compose.yml takes it from: `sandbox.env` for the sandbox,
 * `sandbox.kubeconfig` for the other containers, `kubeconfig` for people.
 */
export async function composeAccess(): Promise<ComposeAccess> {
  await mkdir(accessFolder, { recursive: true });
  await chmod(accessFolder, 0o700);
  const variables = join(accessFolder, "sandbox.env");
  if (!existsSync(variables)) await write(variables, `DROVER_SANDBOX_TOKEN=${newToken()}\n`, 0o600);
  const [, token = ""] = /^DROVER_SANDBOX_TOKEN=(\w{32,})$/m.exec(await readFile(variables, "utf8")) ?? [];
  if (token === "") throw new Error(`${variables} has no token. Remove it, and run this again.`);
  const kubeconfig = join(accessFolder, "kubeconfig");
  await write(kubeconfig, kubeconfigOf("http://127.0.0.1:8001", token), 0o600);
  // Users of containers are none of this machine's; what keeps others out is the folder.
  await write(join(accessFolder, "sandbox.kubeconfig"), kubeconfigOf("http://sandbox:8080", token), 0o644);
  return { token, kubeconfig };
}

async function write(path: string, text: string, mode: number): Promise<void> {
  await writeFile(path, text, { mode });
  await chmod(path, mode);
}

const kubeconfigOf = (server: string, token: string): string => `apiVersion: v1
kind: Config
clusters:
  - { name: sandbox, cluster: { server: "${server}" } }
users:
  - { name: sandbox, user: { token: "${token}" } }
contexts:
  - { name: sandbox, context: { cluster: sandbox, user: sandbox } }
current-context: sandbox
`;
