import { createApplication } from "./application.ts";
import type { FaultHook } from "./faults.ts";
import { kubeconfigFor } from "./kubeconfig.ts";
import { listen, type ListenOptions } from "./listen.ts";
import type { ApiContext } from "./routes.ts";
import { staleStore } from "../storage/stale-store.ts";

/**
 * The same objects at another address: an API server that lags behind. While it is frozen, each get, list and watch is
 * answered with the state at the moment of the freeze, even those for which a real API server would read etcd. A write
 * is answered with 504, as by a real one after its timeout. The set of served kinds is not frozen.
 */
export interface StaleView {
  readonly url: string;
  /** A kubeconfig (YAML) for this address, with the sandbox's token. */
  kubeconfig(): string;
  freeze(): void;
  /** Watches then receive the changes that they have missed. */
  thaw(): void;
  close(): Promise<void>;
}

export async function startStaleView(
  context: ApiContext,
  options: Omit<ListenOptions, "port">,
): Promise<StaleView> {
  const store = staleStore(context.cluster.store);
  let isFrozen = false;
  const refuseWrites: FaultHook = ({ method }) =>
    isFrozen && !["GET", "HEAD"].includes(method)
      ? { status: 504, message: "this view is frozen: write to the sandbox itself" }
      : undefined;
  const cluster = { ...context.cluster, store };
  const app = createApplication({ ...context, cluster }, new Set([refuseWrites]));
  const { url, close } = await listen(app, context.watches, { ...options, port: 0 });
  return {
    url,
    close,
    kubeconfig: () => kubeconfigFor(url, options.token),
    freeze() {
      isFrozen = true;
      store.freeze();
    },
    thaw() {
      isFrozen = false;
      store.thaw();
    },
  };
}
