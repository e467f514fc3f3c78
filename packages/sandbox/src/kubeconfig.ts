/** A kubeconfig (YAML) with one context, for a server without TLS or authentication. */
export const kubeconfigFor = (url: string): string => `apiVersion: v1
kind: Config
clusters:
  - name: sandbox
    cluster:
      server: ${url}
users:
  - name: sandbox
    user: {}
contexts:
  - name: sandbox
    context:
      cluster: sandbox
      user: sandbox
current-context: sandbox
`;
