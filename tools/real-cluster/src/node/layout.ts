// Where things are in the namespaces of a cluster with a node. They have a network and a /run of their own, so
// addresses, ports and sockets can be the same in every cluster.

/** The node's name; its certificate (go/pki) has it, too. */
export const nodeName = "node";
/** The node's address (in the API server's certificate, too), which pods reach. Not loopback: kubelet refuses that. */
export const nodeAddress = "10.99.0.1";
export const apiServerPort = 6443;
/** Pods' addresses. */
export const podRange = "10.244.0.0/16";
/** Where images are pushed to: `127.0.0.1:5000/drover/bridge:1` is what a pod calls `drover/bridge:1`. */
export const registryAddress = "127.0.0.1:5000";
export const containerdSocket = "/run/containerd/containerd.sock";
/** The image of every pod's first process; made here, never pulled. */
export const pauseImage = "drover.local/pause:1";
/** The socket of `door.ts` in the cluster's folder. */
export const doorName = "door.sock";
/** The socket of `controllers-socket.ts`, there too. */
export const controllersName = "controllers.sock";
