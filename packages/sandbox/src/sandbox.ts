import { newToken } from "@drover/listener";
import { createApplication } from "./http/application.ts";
import { createCluster } from "./storage/cluster.ts";
import type { Cluster } from "./storage/cluster.ts";
import { keepDefinitions } from "./definitions/definition-lifecycle.ts";
import type { FaultHook, Faults } from "./http/faults.ts";
import type { KubeObject } from "./kube-object.ts";
import { collectGarbage } from "./controllers/garbage-collection.ts";
import { kubeconfigFor } from "./http/kubeconfig.ts";
import { keepNamespaces } from "./controllers/namespace-lifecycle.ts";
import { listen } from "./http/listen.ts";
import { asServed } from "./kinds/resource-type.ts";
import { startStaleView } from "./http/stale-view.ts";
import type { StaleView } from "./http/stale-view.ts";
import { createStore } from "./storage/store.ts";
import type { Watch } from "./reading/watch.ts";
import { create } from "./writing/writes.ts";

export interface SandboxOptions {
  /** 0, the default, selects a free port. */
  readonly port?: number;
  /** 127.0.0.1 by default. */
  readonly host?: string;
  /**
   * The bearer token of all requests but those for health. A client with the token may do everything, without
   * authorization. Default: a random one.
   */
  readonly token?: string;
  /** Host names, without port, under which clients reach it, besides its own address and `localhost`. */
  readonly hosts?: readonly string[];
  /** The clock of timestamps and ages. */
  readonly now?: () => Date;
  /**
   * If true, the default, the sandbox also does the work of kube-controller-manager: it deletes the dependents of
   * deleted owners, and empties deleted namespaces. An API server alone only sets the finalizers for that, and leaves
   * deleted namespaces Terminating.
   */
  readonly controllers?: boolean;
  /** The version before the first change, 0 by default: for clients that remember versions of an earlier sandbox. */
  readonly version?: number;
}

/** A running API server. The code that started it closes it. */
export interface Sandbox {
  readonly url: string;
  /** The token that clients send as `Authorization: Bearer ...`. */
  readonly token: string;
  /** A kubeconfig (YAML) for this server, with its token. */
  kubeconfig(): string;
  readonly faults: Faults;
  /**
   * The current objects, for tests, in the first version of their kind and in the order of their keys; `resource` is a
   * plural and a group (`pods`, `widgets.example.com`).
   */
  objects(resource: string): readonly KubeObject[];
  /** Another address of the same objects, which can be frozen. It closes with the sandbox. */
  staleView(): Promise<StaleView>;
  /** The latest resourceVersion. */
  readonly resourceVersion: string;
  /** Stops listening, ends all watches and closes all connections. */
  close(): Promise<void>;
}

/** The number of changes that are kept for watches and lists of older versions. Older ones answer 410. */
const historyLimit = 10_000;

/** The namespaces that every cluster has. */
function createNamespaces(cluster: Cluster): void {
  const type = cluster.typeOf("", "v1", "namespaces");
  if (!type) return;
  const options = {
    dryRun: false,
    fieldValidation: "Ignore",
    warn: () => undefined,
    manager: "kube-apiserver",
  } as const;
  for (const name of ["default", "kube-node-lease", "kube-public", "kube-system"])
    create(cluster, { type, namespace: "", name, subresource: "" }, { metadata: { name } }, options);
}

/** Starts an API server that contains only namespaces. Rejects if the port is in use. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const {
    port = 0,
    host = "127.0.0.1",
    token = newToken(),
    hosts = [],
    now = () => new Date(),
    controllers = true,
    version,
  } = options;
  const store = createStore(historyLimit, version);
  const cluster = createCluster(store, now);
  keepDefinitions(cluster);
  if (controllers) {
    keepNamespaces(cluster);
    collectGarbage(cluster);
  }
  createNamespaces(cluster);
  const watches = new Set<Watch>();
  const hooks = new Set<FaultHook>();
  const app = createApplication({ cluster, watches }, hooks);
  const { url, close } = await listen(app, watches, { host, port, token, hosts });
  const views: StaleView[] = [];
  return {
    url,
    token,
    kubeconfig: () => kubeconfigFor(url, token),
    faults: {
      dropWatches: () => [...watches].forEach((watch) => watch.drop()),
      compact: () => store.compact(),
      respond(hook) {
        hooks.add(hook);
        return () => void hooks.delete(hook);
      },
    },
    objects(name) {
      const type = cluster.types().find(({ bucket }) => bucket === name);
      const { objects } = store.list(name);
      return type === undefined ? objects : objects.map((object) => asServed(type, object));
    },
    get resourceVersion() {
      return String(store.version);
    },
    async staleView() {
      const view = await startStaleView({ cluster, watches: new Set() }, { host, token, hosts });
      views.push(view);
      return view;
    },
    async close() {
      await Promise.all([close(), ...views.map((view) => view.close())]);
    },
  };
}
