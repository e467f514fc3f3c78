import { serverWithToken } from "@drover/listener";

/** A kubeconfig with one context, for a proxy that adds the upstream's credentials itself. JSON is YAML. */
export function proxyKubeconfig(
  server: string,
  { token, namespace }: { readonly token: string | undefined; readonly namespace: string | undefined },
): string {
  const name = "fault-proxy";
  return JSON.stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        { name, cluster: { server: token === undefined ? server : serverWithToken(server, token) } },
      ],
      users: [{ name, user: token === undefined ? {} : { token } }],
      contexts: [{ name, context: { cluster: name, user: name, ...(namespace && { namespace }) } }],
      "current-context": name,
    },
    null,
    2,
  );
}
