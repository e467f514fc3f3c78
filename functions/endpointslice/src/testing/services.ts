import type { KubeObject } from "@drover/kube";
import type { Manifest, User } from "@drover/testing";

export const services = { apiVersion: "v1", kind: "Service" };
export const pods = { apiVersion: "v1", kind: "Pod" };
export const nodes = { apiVersion: "v1", kind: "Node" };
export const slices = { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice" };

/** A Service of these fields that selects `app: web`. */
export const service = (spec: object = {}, metadata: object = {}): Manifest => ({
  ...services,
  metadata: { name: "web", ...metadata },
  spec: { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }], ...spec },
});

/** A pod on a node, which matches the Service. */
export const pod = (name: string, spec: object = {}, metadata: object = {}): Manifest => ({
  ...pods,
  metadata: { name, labels: { app: "web" }, ...metadata },
  spec: { nodeName: "node-a", containers: [{ name: "web", image: "web:1" }], ...spec },
});

export const node = (name: string, zone?: string): Manifest => ({
  ...nodes,
  metadata: { name, labels: zone === undefined ? {} : { "topology.kubernetes.io/zone": zone } },
});

/** The status that a kubelet writes for a pod with these addresses. */
export const withAddress = (ips: readonly string[], ready = true, since = "2026-01-01T00:00:10Z") => ({
  phase: "Running",
  podIP: ips[0],
  podIPs: ips.map((ip) => ({ ip })),
  conditions: [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime: since }],
});

/** Writes the status of a pod, as a kubelet does. */
export const writePod = (user: User, name: string, status: object): Promise<KubeObject> =>
  user.writeStatus({ ...pods, metadata: { name }, status });
