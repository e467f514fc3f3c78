import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { spawnTied, type TiedProcess } from "@drover/local-servers";
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

/** What a controller manager is told in every cluster that has one. */
export function managerFlags({ folder }: Pki): readonly string[] {
  const file = (name: string) => join(folder, name);
  return [
    "--bind-address=127.0.0.1",
    "--leader-elect=false",
    "--use-service-account-credentials=true",
    `--service-account-private-key-file=${file("sa.key")}`,
    `--root-ca-file=${file("ca.crt")}`,
    `--cluster-signing-cert-file=${file("ca.crt")}`,
    `--cluster-signing-key-file=${file("ca.key")}`,
  ];
}

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
