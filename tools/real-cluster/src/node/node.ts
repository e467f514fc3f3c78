import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ControlPlane, startClient } from "../control-plane-client.ts";
import { containerdSocket, nodeAddress, nodeName, podRange } from "./layout.ts";
import { bridgesAreFiltered } from "./private-machine.ts";

/** Starts kubelet, which registers the node, and kube-proxy, which makes Services reachable. */
export async function startNode(cluster: ControlPlane): Promise<void> {
  const { dir, pki } = cluster;
  await mkdir(join(dir, "kubelet"));
  const file = (name: string) => join(dir, name);
  // JSON is YAML.
  await writeFile(file("kubelet.json"), JSON.stringify(kubeletSettings(dir, join(pki.folder, "ca.crt"))));
  await startClient(cluster, "kubelet", "node", [
    `--config=${file("kubelet.json")}`,
    `--root-dir=${file("kubelet")}`,
    `--cert-dir=${file("kubelet/pki")}`,
    `--hostname-override=${nodeName}`,
    `--node-ip=${nodeAddress}`,
  ]);
  await startClient(cluster, "kube-proxy", "proxy", await proxyFlags());
}

const kubeletSettings = (dir: string, clientCAFile: string) => ({
  apiVersion: "kubelet.config.k8s.io/v1beta1",
  kind: "KubeletConfiguration",
  address: nodeAddress,
  healthzBindAddress: "127.0.0.1",
  containerRuntimeEndpoint: `unix://${containerdSocket}`,
  authentication: { anonymous: { enabled: false }, webhook: { enabled: false }, x509: { clientCAFile } },
  authorization: { mode: "AlwaysAllow" },
  clusterDomain: "cluster.local",
  clusterDNS: [nodeAddress],
  // Pods have no cgroups of their own here.
  failCgroupV1: false,
  cgroupDriver: "cgroupfs",
  cgroupsPerQOS: false,
  enforceNodeAllocatable: [],
  failSwapOn: false,
  // A disk that others fill is no reason to evict pods.
  evictionHard: {
    "memory.available": "100Mi",
    "nodefs.available": "1%",
    "imagefs.available": "1%",
    "nodefs.inodesFree": "1%",
  },
  imageGCHighThresholdPercent: 100,
  podLogsDir: join(dir, "pod-logs"),
  volumePluginDir: join(dir, "volume-plugins"),
  nodeStatusUpdateFrequency: "5s",
  serializeImagePulls: false,
});

const proxyFlags = async () => [
  `--bind-address=${nodeAddress}`,
  "--healthz-bind-address=127.0.0.1:10256",
  "--metrics-bind-address=127.0.0.1:10249",
  `--cluster-cidr=${podRange}`,
  `--hostname-override=${nodeName}`,
  "--proxy-mode=iptables",
  `--nodeport-addresses=${nodeAddress}/32`,
  `--masquerade-all=${!(await bridgesAreFiltered())}`,
  // These settings of the kernel are the whole system's.
  ...["--conntrack-max-per-core=0", "--conntrack-min=0"],
  ...["--conntrack-tcp-timeout-established=0", "--conntrack-tcp-timeout-close-wait=0"],
];
