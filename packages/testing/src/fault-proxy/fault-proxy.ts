import type { Milliseconds } from "@drover/controller";
import { newToken } from "@drover/listener";
import { setTimeout as delay } from "node:timers/promises";
import type { ProxiedCall } from "./calls/proxied-call.ts";
import { openListener } from "./proxy-listener.ts";
import type { ClientProcess } from "./calls/exchange.ts";
import type { FaultDecider } from "./plan/faults.ts";
import type { ProxiedWatch } from "./responses/pass-watch.ts";
import { proxyKubeconfig } from "./proxy-kubeconfig.ts";
import type { CallRecord } from "./calls/call-record.ts";
import { callHandler } from "./calls/call-handler.ts";
import { requestHandler } from "./calls/request-handler.ts";
import { openUpstream, type Upstream } from "./upstream.ts";

export interface FaultProxyOptions {
  readonly upstream: Upstream;
  /** Other servers, or other views of the same one, for the fault `stale`. */
  readonly views?: Readonly<Record<string, Upstream>>;
  readonly decider: FaultDecider;
  /**
   * Returns the Status with which a server that has authorization refuses a call, or undefined if it would let the call
   * pass. Refused calls meet no fault, and never reach the server.
   */
  readonly authorize?: (call: ProxiedCall) => object | undefined;
  /** Called at the fault `kill`: after the commit and before the answer, or before the call reaches the server. */
  readonly onKill?: (call: ProxiedCall, when: "before" | "after") => void;
  /** Called for each call when its client's result is certain: an answer begins, or none will come. */
  readonly onEntry?: (entry: CallRecord) => void;
  /** The port of the proxy's own listener, on loopback. Default: any free port. */
  readonly port?: number;
  /**
   * Host names, without port, that clients may use in addition to those of loopback, for instance because they sign
   * them.
   */
  readonly hosts?: readonly string[];
  /** Returns the path and query to request instead of `url`. */
  readonly rewrite?: (call: ProxiedCall, url: string) => string;
  /** Watches are sent in pieces of this many bytes; 0, the default: line by line. */
  readonly pieces?: number;
  /** Waits for a delay. Default: by the machine's clock. */
  readonly sleep?: (time: Milliseconds) => Promise<void>;
}

/** An address of the proxy, for one client process at a time. */
export interface ProxyListener {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /**
   * The bearer token that clients must send, since every accepted client uses the upstream's credentials; undefined for
   * an upstream without any.
   */
  readonly token: string | undefined;
  /** A kubeconfig (JSON, which is YAML) for this address, with the token. */
  readonly kubeconfig: () => string;
  /** The number of its client process, the field `life` of its calls. */
  readonly processNumber: number;
  /** Closes the address for good, and disconnects all clients. */
  readonly close: () => Promise<void>;
}

/**
 * A proxy in front of a server: plain HTTP on loopback here, the real server behind. Requests of web pages are refused.
 * The code that starts it must close it.
 */
export interface FaultProxy extends ProxyListener {
  /** All calls, in the order in which they came. */
  readonly record: readonly CallRecord[];
  /** Opens another address, with a client process of its own; decider and record are the same. */
  readonly openListener: () => Promise<ProxyListener>;
  /**
   * Calls at the proxy's own address count as those of another process from now on; connections of the one before are
   * cut. Takes back a kill.
   */
  readonly nextProcess: () => void;
  /** Ends the watches in progress that `which` selects; returns false if it selects none. */
  readonly endWatches: (how: "end" | "reset" | "410", which?: (call: ProxiedCall) => boolean) => boolean;
  /** Stops listening at the proxy's own address, and disconnects all clients there. */
  readonly shut: () => Promise<void>;
  /** Takes back `shut`. */
  readonly open: () => Promise<void>;
  /** Closes all listeners, and the connections to the servers. */
  readonly close: () => Promise<void>;
}

/** @throws KubeConfigError if usable credentials are missing; an error of the system if the port is taken. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const {
    sleep = pause,
    pieces = 0,
    onKill = noop,
    onEntry = noop,
    rewrite = unchangedUrl,
    hosts = [],
  } = options;
  const upstream = await openUpstream(options.upstream);
  const views = await openViews(options.views);
  const record: CallRecord[] = [];
  const running = new Set<ProxiedWatch>();
  const closing = new Set<() => Promise<void>>();
  const serve = callHandler({ ...options, upstream, views, running, pieces, sleep, onKill });
  const onRequest = requestHandler({ record, serve, onEntry, rewrite });
  const token = upstream.addsCredentials ? newToken() : undefined;
  let processes = 0;
  const newProcess = (): ClientProcess => ({ number: ++processes, hasEnded: false });

  const enter = async (port?: number) => {
    let client = newProcess();
    const opened = await openListener({ onRequest: (...io) => onRequest(client, ...io), port, token, hosts });
    const close = async (): Promise<void> => {
      client.hasEnded = true;
      closing.delete(close);
      await opened.shut();
    };
    closing.add(close);
    return {
      ...opened,
      close,
      token,
      kubeconfig: () => proxyKubeconfig(opened.url, { token, namespace: upstream.namespace }),
      get processNumber() {
        return client.number;
      },
      nextProcess() {
        client.hasEnded = true;
        client = newProcess();
        opened.cutOff();
      },
    };
  };
  const own = await enter(options.port);
  return Object.assign(own, {
    record,
    openListener: () => enter(),
    endWatches(how: "end" | "reset" | "410", which: (call: ProxiedCall) => boolean = () => true) {
      const all = [...running].filter(({ call }) => which(call));
      for (const watch of all) watch.end(how);
      return all.length > 0;
    },
    async close() {
      await Promise.all([...closing].map((close) => close()));
      for (const each of [upstream, ...views.values()]) each.close();
    },
  });
}

async function openViews(views: FaultProxyOptions["views"] = {}) {
  const opening = Object.entries(views).map(
    async ([name, view]) => [name, await openUpstream(view)] as const,
  );
  return new Map(await Promise.all(opening));
}

const noop = (): void => undefined;
const unchangedUrl = (_: ProxiedCall, url: string): string => url;
const pause = async (time: Milliseconds): Promise<void> => {
  await delay(time);
};
