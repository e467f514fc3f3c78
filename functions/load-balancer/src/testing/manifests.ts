import type { Manifest } from "drover/testing";

export const keys: Manifest = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "keys" },
  stringData: { accessKeyId: "local", secretAccessKey: "local-secret" },
};

export const node = (name: string, spec: object = {}, labels: object = {}): Manifest => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels },
  spec: { providerID: `aws:///us-east-1a/i-0${name}`, ...spec },
});

/** The Service `web`, with these ports. */
export const service = (
  ports: readonly object[] = [{ name: "http", port: 80, targetPort: 8080, nodePort: 30080, protocol: "TCP" }],
  spec: object = {},
): Manifest => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web" },
  spec: {
    type: "LoadBalancer",
    loadBalancerClass: "elb.drover.dev/network",
    selector: { app: "web" },
    ports,
    ...spec,
  },
});

/** The LoadBalancer `web`. */
export const loadBalancer = (spec: object): Manifest => ({
  apiVersion: "elb.drover.dev/v1alpha1",
  kind: "LoadBalancer",
  metadata: { name: "web" },
  spec: { credentialsSecret: { name: "keys" }, ...spec },
});
