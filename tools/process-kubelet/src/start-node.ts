import { type Log, type Milliseconds, type ObjectKey, silentLog } from "@drover/controller";
import {
  builtin,
  connect,
  isObjectEvent,
  type KubeClient,
  type ReflectorEvent,
  runReflector,
} from "@drover/kube";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Images, imagesOf } from "./images.ts";
import { registerNode, reportNodeStatus } from "./node-object.ts";
import { nodePods } from "./pods/node-pods.ts";
import { podAddresses, randomRange } from "./pods/pod-addresses.ts";
import type { BackOff } from "./containers/restart-delay.ts";
import { serviceProxy } from "./services/service-proxy.ts";
import { endpointsOf, portsOf, type ServicePort } from "./services/service.ts";

export interface NodeOptions {
  /** Stays open when the node ends. Instead of it, `kubeconfig` is the path of one. */
  readonly client?: KubeClient;
  readonly kubeconfig?: string;
  /** The name of the Node object. */
  readonly name: string;
  /** The commands that images stand for. A pod with another image waits with ImagePullBackOff. */
  readonly images: Images;
  /** For the pods' logs, `<namespace>_<pod>_<container>.log`, and their volumes. */
  readonly folder: string;
  /** Given to every container, under the image's and the container's own variables. */
  readonly env?: Readonly<Record<string, string>>;
  readonly log?: Log;
  /** Ends the node, as `stop` does. */
  readonly signal?: AbortSignal;
  /**
   * A range of loopback for the pods' addresses. Nodes of one machine must not share it. Default: some /24, another one
   * each time.
   */
  readonly podCidr?: string;
  /**
   * The address in a pod's status, from the one of loopback that it has. A kube-apiserver connects to no pod with an
   * address of loopback: the egress proxy of `@drover/real-cluster` leads it there. Default: the same.
   */
  readonly publishedAddress?: (address: string) => string;
  /** Between the starts of a container that ends: default 100 ms, doubling to 10 s. */
  readonly backOff?: BackOff;
  /** The longest that probes wait between two tries, instead of a longer `periodSeconds`; at least 100. */
  readonly probePeriod?: Milliseconds;
}

/** A node at work. */
export interface LocalNode {
  /** Ends all processes and reports that in the status of the pods and the Node. May be called again. */
  stop(): Promise<void>;
  /** Resolves when it has ended, by `stop` or its signal. Never rejects. */
  readonly ended: Promise<void>;
}

/**
 * Registers a node and runs the pods that are on it, and those that are on none. Resolves when the node is Ready and
 * has seen all pods and Services.
 *
 * @throws for images or a range that cannot be used, when there are no credentials, and when the node cannot be registered
 */
export async function startNode(options: NodeOptions): Promise<LocalNode> {
  const { name, folder, env = {}, log = silentLog, signal, probePeriod } = options;
  const {
    podCidr = randomRange(),
    publishedAddress = (one: string) => one,
    backOff = { first: 100, most: 10_000 },
  } = options;
  const images = imagesOf(options.images);
  const addresses = podAddresses(podCidr);
  const client = options.client ?? (await connect(kubeconfigOf(options)));
  // Its last user is dead: volumes of a killed node may have Secrets of pods that are gone by now.
  const volumes = join(folder, "volumes", name);
  await rm(volumes, { recursive: true, force: true });
  await registerNode(client, name);
  const stopping = new AbortController();
  const common = { client, log, signal: stopping.signal, metadataOnly: false } as const;
  const running = { name, images, addresses, publishedAddress, folder, volumes, env, backOff, probePeriod };
  const pods = nodePods({ ...common, ...running });
  const proxy = serviceProxy({ endpoints: (port) => endpointsOf(port, pods.all()), log });
  const services = trackServices((ports) => proxy.serve(ports));
  const reflectors = [
    runReflector({
      ...common,
      ref: builtin.pod,
      onEvents(events) {
        pods.take(events);
        proxy.update();
      },
    }),
    runReflector({ ...common, ref: builtin.service, onEvents: (events) => services.take(events) }),
  ];
  const end = async (): Promise<void> => {
    stopping.abort();
    await Promise.all([proxy.close(), pods.stop(stopGrace), ...reflectors.map(({ done }) => done)]);
    await reportNodeStatus(client, name, { ready: false }).catch((error: unknown) =>
      log.warn({ node: name, err: error }, "Could not report that the node has stopped"),
    );
    if (options.client === undefined) await client.close();
  };
  const ended = Promise.withResolvers<undefined>();
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= end().then(() => ended.resolve(undefined));
    return stopped;
  };
  signal?.addEventListener("abort", () => void stop(), { once: true });
  if (signal?.aborted) void stop();
  await Promise.race([Promise.all([pods.known, services.known]), ended.promise]);
  log.info({ node: name, podCidr }, "Running pods as processes");
  return { stop, ended: ended.promise };
}

/** From SIGTERM to SIGKILL, for the processes of a node that ends. */
const stopGrace: Milliseconds = 5000;

function kubeconfigOf({ kubeconfig }: NodeOptions): { kubeconfig: string } {
  if (kubeconfig !== undefined) return { kubeconfig };
  throw new Error("A node needs an API server: give a client, or the path of a kubeconfig.");
}

/** Calls `onChange` with the ports of all Services whenever one has changed. */
function trackServices(onChange: (ports: readonly ServicePort[]) => void) {
  const ports = new Map<ObjectKey, readonly ServicePort[]>();
  const known = Promise.withResolvers<undefined>();
  return {
    known: known.promise,
    take(events: readonly ReflectorEvent[]) {
      for (const event of events) {
        if (event.type === "synced") known.resolve(undefined);
        if (!isObjectEvent(event)) continue;
        if (event.type === "deleted" || event.object === undefined) ports.delete(event.key);
        else ports.set(event.key, portsOf(event.object));
      }
      onChange([...ports.values()].flat());
    },
  };
}
