import type { Milliseconds } from "@drover/controller";
import { newToken } from "@drover/listener";
import { setTimeout as delay } from "node:timers/promises";
import type { Call } from "./call.ts";
import { openDoor } from "./door.ts";
import type { Life } from "./exchange.ts";
import type { FaultDecider } from "./faults.ts";
import type { ProxiedWatch } from "./pass-watch.ts";
import { proxyKubeconfig } from "./proxy-kubeconfig.ts";
import type { Entry } from "./record.ts";
import { callServer } from "./serve-call.ts";
import { takeCalls } from "./take-calls.ts";
import { openUpstream, type Upstream } from "./upstream.ts";

export interface FaultProxyOptions {
  readonly upstream: Upstream;
  /** Other servers, or other views of the same one, for the fault `stale`. */
  readonly views?: Readonly<Record<string, Upstream>>;
  readonly decider: FaultDecider;
  /**
   * The Status with which a server that has authorization refuses a call; undefined where it would let it pass. Such calls
   * meet no fault, and never reach the server.
   */
  readonly authorize?: (call: Call) => object | undefined;
  /** Called at the fault `kill`: after the commit and before the answer, or before the call reaches the server. */
  readonly onKill?: (call: Call, when: "before" | "after") => void;
  /** Told of each call when it is certain what its client is told: an answer begins, or none will come. */
  readonly onEntry?: (entry: Entry) => void;
  /** Of the proxy's own door, on loopback; by default a free one. */
  readonly port?: number;
  /** Host names, without port, that clients ask for beside loopback's, as where they sign them. */
  readonly hosts?: readonly string[];
  /** What is asked for instead: path and query. */
  readonly rewrite?: (call: Call, url: string) => string;
  /** Watches come in pieces of so many bytes; 0, the default: line by line. */
  readonly pieces?: number;
  /** Waits out a delay; by default on the machine's clock. */
  readonly sleep?: (time: Milliseconds) => Promise<void>;
}

/** An address of the proxy's, and the one who lives behind it. */
export interface Door {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /**
   * The bearer token that clients must send, since whoever is let in has the upstream's credentials; undefined for an
   * upstream without any.
   */
  readonly token: string | undefined;
  /** A kubeconfig (JSON, which is YAML) that leads here, with the token. */
  readonly kubeconfig: () => string;
  /** The number of its life, as in `Call`. */
  readonly life: number;
  /** For good: whoever is connected is cut off. */
  readonly close: () => Promise<void>;
}

/** Stands in front of a server: plain HTTP on loopback here, the real one behind. Web pages are refused. Whoever started it closes it. */
export interface FaultProxy extends Door {
  /** All calls, in the order in which they came. */
  readonly record: readonly Entry[];
  /** Another address with a life of its own; decider and record are the same. */
  readonly door: () => Promise<Door>;
  /**
   * From now on it is another process that comes in by the proxy's own address; connections of the one before are cut.
   * Takes back a kill.
   */
  readonly nextLife: () => void;
  /** Ends the watches that run; false when none does. */
  readonly endWatches: (how: "end" | "reset" | "410", which?: (call: Call) => boolean) => boolean;
  /** Nobody listens any more at the proxy's own address; whoever is connected is cut off. */
  readonly shut: () => Promise<void>;
  /** Takes back `shut`. */
  readonly open: () => Promise<void>;
  /** Of all doors. */
  readonly close: () => Promise<void>;
}

/** @throws KubeConfigError when there are no usable credentials; an error of the system when the port is taken. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const {
    sleep = pause,
    pieces = 0,
    onKill = nobody,
    onEntry = nobody,
    rewrite = asItIs,
    hosts = [],
  } = options;
  const upstream = await openUpstream(options.upstream);
  const views = await openViews(options.views);
  const record: Entry[] = [];
  const running = new Set<ProxiedWatch>();
  const closing = new Set<() => Promise<void>>();
  const serve = callServer({ ...options, upstream, views, running, pieces, sleep, onKill });
  const onRequest = takeCalls({ record, serve, onEntry, rewrite });
  const token = upstream.addsCredentials ? newToken() : undefined;
  let lives = 0;
  const nextLife = (): Life => ({ number: ++lives, isOver: false });

  const enter = async (port?: number) => {
    let life = nextLife();
    const opened = await openDoor({ onRequest: (...ends) => onRequest(life, ...ends), port, token, hosts });
    const close = async (): Promise<void> => {
      life.isOver = true;
      closing.delete(close);
      await opened.shut();
    };
    closing.add(close);
    return {
      ...opened,
      close,
      token,
      kubeconfig: () => proxyKubeconfig(opened.url, { token, namespace: upstream.namespace }),
      get life() {
        return life.number;
      },
      nextLife() {
        life.isOver = true;
        life = nextLife();
        opened.cutOff();
      },
    };
  };
  const own = await enter(options.port);
  return Object.assign(own, {
    record,
    door: () => enter(),
    endWatches(how: "end" | "reset" | "410", which: (call: Call) => boolean = () => true) {
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

const nobody = (): void => undefined;
const asItIs = (_: Call, url: string): string => url;
const pause = async (time: Milliseconds): Promise<void> => {
  await delay(time);
};
