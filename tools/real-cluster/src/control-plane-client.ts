import { join } from "node:path";
import { answersOk, onFreePort, spawnTied, type TiedProcess, waitUntilReady } from "@drover/local-servers";
import { writeKubeconfig } from "./client-files.ts";
import { clientFiles, type Pki } from "./pki.ts";

/** The settings that the clients of an API server share. */
export interface ControlPlane {
  readonly bin: string;
  /** For their kubeconfigs and logs. */
  readonly dir: string;
  readonly pki: Pki;
  /** The API server's URL. */
  readonly url: string;
}

/** Starts a program of Kubernetes that is a client of the API server, as a user with a certificate of the PKI. */
export async function startClient(
  plane: ControlPlane,
  program: string,
  user: string,
  args: readonly string[],
): Promise<TiedProcess> {
  const { bin, dir, pki, url } = plane;
  const admin = await clientFiles(pki.folder, user);
  const kubeconfig = await writeKubeconfig(dir, url, { admin }, `${user}.kubeconfig`);
  return spawnTied({
    name: program,
    command: join(bin, program),
    args: [`--kubeconfig=${kubeconfig}`, ...args],
    cwd: dir,
    logFile: join(dir, `${program}.log`),
  });
}

/** Long, for a busy machine. */
const patienceMs = 120_000;

/** Starts a program on a free port, and waits until `/healthz` answers 200. */
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

/** Flags to serve on 127.0.0.1 with a certificate for that address. */
export const servingOn = ({ pki }: ControlPlane, port: number): readonly string[] => [
  ...["--bind-address=127.0.0.1", `--secure-port=${port}`],
  `--tls-cert-file=${join(pki.folder, "apiserver.crt")}`,
  `--tls-private-key-file=${join(pki.folder, "apiserver.key")}`,
];
