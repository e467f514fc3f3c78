import { serverWithToken } from "@drover/listener";

/** A kubeconfig (YAML) with one context, for a server without TLS and with a bearer token. */
export const kubeconfigFor = (url: string, token: string): string => `apiVersion: v1
kind: Config
clusters:
  - name: sandbox
    cluster:
      server: ${serverWithToken(url, token)}
users:
  - name: sandbox
    user:
      token: ${JSON.stringify(token)}
contexts:
  - name: sandbox
    context:
      cluster: sandbox
      user: sandbox
current-context: sandbox
`;
