import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onFreePort, spawnTied, type TiedProcess, waitUntilReady } from "@drover/local-servers";
import { answersOk } from "./answers-ok.ts";
import type { Pki } from "./pki.ts";

/** What the programs behind an API server have in common. */
export interface ControlPlane {
  readonly bin: string;
  /** For their kubeconfigs and logs. */
  readonly dir: string;
  readonly pki: Pki;
  /** Where the API server is. */
  readonly url: string;
}

/** Starts a program of Kubernetes that works by talking to the API server, as the user whose certificate that is. */
export async function startClient(
  plane: ControlPlane,
  program: string,
  user: string,
  args: readonly string[],
): Promise<TiedProcess> {
  const { bin, dir } = plane;
  return spawnTied({
    name: program,
    command: join(bin, program),
    args: [`--kubeconfig=${await writeUserConfig(plane, user)}`, ...args],
    cwd: dir,
    logFile: join(dir, `${program}.log`),
  });
}

/** It may be busy with what it finds, on a machine that is busy. */
const patienceMs = 120_000;

/** Starts a program on a free port of its own, and waits until it calls itself healthy. */
export function startHealthy(
  plane: ControlPlane,
  [program, user]: readonly [string, string],
  argsOn: (port: number) => readonly string[],
  signal: AbortSignal | undefined,
): Promise<TiedProcess> {
  return onFreePort(async (port) => {
    const child = await startClient(plane, program, user, argsOn(port));
    const secure = program === "kwok" ? {} : { ca: plane.pki.admin.ca };
    const isHealthy = () => answersOk({ ...secure, host: "127.0.0.1", port, path: "/healthz" });
    await waitUntilReady(child, isHealthy, { timeoutMs: patienceMs, signal });
    return child;
  });
}

/** With a certificate that says 127.0.0.1. */
export const servingOn = ({ pki }: ControlPlane, port: number): readonly string[] => [
  ...["--bind-address=127.0.0.1", `--secure-port=${port}`],
  `--tls-cert-file=${join(pki.folder, "apiserver.crt")}`,
  `--tls-private-key-file=${join(pki.folder, "apiserver.key")}`,
];

/** Writes the kubeconfig of a user whose certificate is in the PKI's folder, and gives its path. */
async function writeUserConfig({ dir, pki, url }: ControlPlane, user: string): Promise<string> {
  const file = (name: string) => join(pki.folder, name);
  const cluster = { server: url, "certificate-authority": file("ca.crt") };
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "here", cluster }],
    users: [
      { name: user, user: { "client-certificate": file(`${user}.crt`), "client-key": file(`${user}.key`) } },
    ],
    contexts: [{ name: "here", context: { cluster: "here", user } }],
    "current-context": "here",
  };
  const path = join(dir, `${user}.kubeconfig`);
  await writeFile(path, JSON.stringify(kubeconfig), { mode: 0o600 });
  return path;
}
