import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";

const kubeconfigSchema = z.looseObject({ users: z.array(z.looseObject({ user: z.unknown() })) });

/** Writes a kubeconfig that reaches the same cluster with another token. @returns its path, `file`. */
export function writeKubeconfig(
  file: string,
  { like, token }: { readonly like: string; readonly token: string },
): string {
  const config = kubeconfigSchema.parse(JSON.parse(readFileSync(like, "utf8")));
  const users = config.users.map((one) => ({ ...one, user: { token } }));
  writeFileSync(file, JSON.stringify({ ...config, users }), { mode: 0o600 });
  return file;
}

/** The text of a kubeconfig with one context: these fields of its cluster, and of its user. */
export const kubeconfigText = (cluster: { readonly server: string } & object, user: object): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "it",
    contexts: [{ name: "it", context: { cluster: "it", user: "it" } }],
    clusters: [{ name: "it", cluster }],
    users: [{ name: "it", user }],
  });
