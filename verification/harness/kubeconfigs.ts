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
