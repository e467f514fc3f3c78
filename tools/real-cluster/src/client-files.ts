import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Pki } from "./pki.ts";

/**
 * Writes a kubeconfig for a user of the cluster at `url`, and gives its path. With a token, the user has no certificate,
 * and `admin` gives only the cluster's authority.
 */
export async function writeKubeconfig(
  dir: string,
  url: string,
  { admin, token }: Pick<Pki, "admin"> & { readonly token?: string },
  file = "kubeconfig",
): Promise<string> {
  const name = "real-cluster";
  const certificate = {
    "client-certificate-data": admin.cert.toString("base64"),
    "client-key-data": admin.key.toString("base64"),
  };
  const user = token === undefined ? certificate : { token };
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: url, "certificate-authority-data": admin.ca.toString("base64") } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: "default" } }],
    "current-context": name,
  };
  const path = join(dir, file);
  // JSON is YAML.
  await writeFile(path, JSON.stringify(kubeconfig, null, 2), { mode: 0o600 });
  return path;
}

const base64 = z.string().transform((text) => Buffer.from(text, "base64"));
const kubeconfigSchema = z
  .object({
    clusters: z.tuple([
      z.object({ cluster: z.object({ server: z.url(), "certificate-authority-data": base64 }) }),
    ]),
    users: z.tuple([
      z.object({ user: z.object({ "client-certificate-data": base64, "client-key-data": base64 }) }),
    ]),
  })
  .transform(({ clusters: [{ cluster }], users: [{ user }] }) => ({
    url: cluster.server,
    ca: cluster["certificate-authority-data"],
    cert: user["client-certificate-data"],
    key: user["client-key-data"],
  }));

/** The URL and the TLS credentials in a kubeconfig that `writeKubeconfig` wrote. */
export type ClientAccess = Readonly<z.output<typeof kubeconfigSchema>>;

export const readKubeconfig = (path: string): ClientAccess =>
  kubeconfigSchema.parse(JSON.parse(readFileSync(path, "utf8")));

/**
 * Writes a kubectl for this cluster that ignores the environment, and returns its path. Its cache is the
 * cluster's own: the one in the home folder goes by host and port, and would show kinds of an earlier cluster.
 */
export async function writeKubectl(
  dir: string,
  { bin, kubeconfig }: { bin: string; kubeconfig: string },
): Promise<string> {
  const path = join(dir, "kubectl");
  const command = [
    quoted(join(bin, "kubectl")),
    `--kubeconfig=${quoted(kubeconfig)}`,
    `--cache-dir=${quoted(join(dir, "kubectl-cache"))}`,
  ];
  await writeFile(path, `#!/bin/sh\nexec ${command.join(" ")} "$@"\n`, { mode: 0o700 });
  return path;
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
