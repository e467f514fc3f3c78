import { spawnTied } from "@drover/local-servers";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startApiServer } from "../api-server.ts";
import { startEtcd } from "../etcd.ts";
import type { Pki } from "../pki.ts";
import { apiServerPort, nodeAddress } from "./layout.ts";

export interface ControlPlane {
  readonly bin: string;
  readonly dir: string;
  readonly pki: Pki;
}

/** Starts etcd, the API server, and behind them the controller manager and the scheduler. */
export async function startControlPlane(
  { bin, dir, pki }: ControlPlane,
  apiServerArgs: readonly string[],
): Promise<void> {
  const { endpoint } = await startEtcd({ bin, dir, signal: undefined });
  await startApiServer(
    { bin, dir, pki, etcdEndpoint: endpoint, nodeAddress, extraArgs: apiServerArgs },
    apiServerPort,
    undefined,
  );
  const file = (name: string) => join(pki.folder, name);
  await Promise.all([
    startClient({ bin, dir, pki }, "kube-controller-manager", "controller-manager", [
      "--bind-address=127.0.0.1",
      "--leader-elect=false",
      "--use-service-account-credentials=true",
      `--service-account-private-key-file=${file("sa.key")}`,
      `--root-ca-file=${file("ca.crt")}`,
      `--cluster-signing-cert-file=${file("ca.crt")}`,
      `--cluster-signing-key-file=${file("ca.key")}`,
      // A small cluster that is to be quick.
      ...["--kube-api-qps=200", "--kube-api-burst=400"],
    ]),
    startClient({ bin, dir, pki }, "kube-scheduler", "scheduler", [
      ...["--bind-address=127.0.0.1", "--leader-elect=false"],
    ]),
  ]);
}

/** Starts a program of Kubernetes that works by talking to the API server, as the user whose certificate that is. */
export async function startClient(
  { bin, dir, pki }: ControlPlane,
  program: string,
  user: string,
  args: readonly string[],
): Promise<void> {
  await spawnTied({
    name: program,
    command: join(bin, program),
    args: [`--kubeconfig=${await writeUserConfig(dir, user, pki)}`, ...args],
    cwd: dir,
    logFile: join(dir, `${program}.log`),
  });
}

/** Writes the kubeconfig of a user whose certificate is in the PKI's folder, and gives its path. */
export async function writeUserConfig(dir: string, user: string, pki: Pki): Promise<string> {
  const file = (name: string) => join(pki.folder, name);
  const cluster = { server: `https://127.0.0.1:${apiServerPort}`, "certificate-authority": file("ca.crt") };
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
