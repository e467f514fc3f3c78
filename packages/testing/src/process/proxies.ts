import {
  type ProxiedCall,
  type CallRecord,
  type FaultDecider,
  type FaultProxy,
  startFaultProxy,
  type Upstream,
} from "../fault-proxy/index.ts";
import type { ApiAddress } from "../kubectl/api-address.ts";

/** The addresses at which one process reaches all servers. */
export interface ProcessListeners {
  /** The API server. */
  readonly cluster: ApiAddress;
  /** Servers outside of the cluster, by name. */
  readonly outside: Readonly<Record<string, string>>;
  /** Closes all addresses. */
  close(): void;
}

export interface Proxies {
  /** Its own address is for the test: no faults. */
  readonly cluster: FaultProxy;
  /** Opens addresses for a process of the function. */
  openListeners(): Promise<ProcessListeners>;
  close(): Promise<void>;
}

export interface ProxiesOptions {
  readonly upstream: Upstream;
  /** Older states of the API server, by name, for the fault `stale`. */
  readonly views?: Readonly<Record<string, Upstream>>;
  /** Servers outside of the cluster, by the name under which the function finds them. */
  readonly outside?: Readonly<Record<string, string>>;
  /** True if the servers outside are the function itself: its calls may change something, or only ask. */
  readonly isCalled?: boolean | undefined;
  /** Chooses the faults of the function's calls, to the cluster and to servers outside. */
  readonly decider?: FaultDecider;
  /** Returns the Status for a call that the function may not make. */
  readonly authorize?: (call: ProxiedCall) => object | undefined;
  readonly onKill: () => void;
  /** Called when a call was carried out and its answer will never come. */
  readonly onHang: () => void;
  /** Called for a delay, instead of waiting. */
  readonly sleep?: () => Promise<void>;
  /** The calls of all processes to all servers are added to it. */
  readonly calls: CallRecord[];
}

/** One proxy before each server; one decider for all. */
export async function openProxies(options: ProxiesOptions): Promise<Proxies> {
  const { upstream, views = {}, outside = {}, decider, authorize, onKill, onHang, sleep, calls } = options;
  const start = (to: Upstream, may?: ProxiesOptions["authorize"]): Promise<FaultProxy> => {
    const isOfCalled = options.isCalled === true && to !== upstream;
    const isOfFunction = ({ life }: { readonly life: number }): boolean => life !== testProcessNumber;
    return startFaultProxy({
      upstream: to,
      views,
      onKill,
      ...(sleep && { sleep }),
      ...(may && { authorize: (call: ProxiedCall) => (isOfFunction(call) ? may(call) : undefined) }),
      decider: { ofCall: (call) => (isOfFunction(call) ? decider?.ofCall(call) : undefined) },
      onEntry(entry) {
        if (isOfFunction(entry.call)) calls.push(isOfCalled ? withoutCommit(entry) : entry);
        if (entry.fault?.do === "hang after") onHang();
      },
    });
  };
  const cluster = await start(upstream, authorize);
  const others = await Promise.all(
    Object.entries(outside).map(async ([name, url]) => [name, await start({ url })] as const),
  );
  return {
    cluster,
    async openListeners() {
      const listener = await cluster.openListener();
      const outsideListeners = await Promise.all(
        others.map(async ([name, proxy]) => [name, await proxy.openListener()] as const),
      );
      return {
        cluster: { server: listener.url, token: listener.token },
        outside: Object.fromEntries(outsideListeners.map(([name, { url }]) => [name, url])),
        close: () =>
          [listener, ...outsideListeners.map(([, other]) => other)].forEach((one) => void one.close()),
      };
    },
    async close() {
      await Promise.all([cluster, ...others.map(([, proxy]) => proxy)].map((proxy) => proxy.close()));
    },
  };
}

const withoutCommit = ({ committed: _, ...entry }: CallRecord): CallRecord => entry;

/** The process number of a proxy's own address. */
const testProcessNumber = 1;
