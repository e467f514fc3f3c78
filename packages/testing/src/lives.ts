import type { Milliseconds } from "@drover/controller";
import type { Entry, FaultDecider, Upstream } from "@drover/fault-proxy";
import type { ApiAddress } from "./api-address.ts";
import type { FunctionUnderTest } from "./function-under-test.ts";
import { beginLife, type Life } from "./life.ts";
import { openProxies } from "./proxies.ts";
import type { TestServer } from "./test-server.ts";

/** The processes of one function, one after the other. */
export interface Lives {
  /** The API server for the test itself: no faults. */
  readonly server: ApiAddress;
  /** Every call, the test's own, too. */
  readonly record: readonly Entry[];
  /** Every call of every life. */
  readonly calls: readonly Entry[];
  /** The one that is alive; begun where the last one was killed. */
  current(): Promise<Life>;
  kill(): void;
  close(): Promise<void>;
}

export interface LivesOptions {
  readonly start: FunctionUnderTest;
  readonly server: Pick<TestServer, "upstream" | "isShared">;
  /** Older states of the API server, by name, for faults to lead to. */
  readonly views?: Readonly<Record<string, Upstream>>;
  /** Servers outside of the cluster, by the name under which the function finds them. */
  readonly outside?: Readonly<Record<string, string>>;
  /** What goes wrong with the function's calls, of the cluster and of servers outside. */
  readonly decider?: FaultDecider;
  /** In place of the time of a fault that is a delay. */
  readonly sleep?: () => Promise<void>;
  readonly now: () => Date;
  /** Until a request is given up. */
  readonly requestTimeout: Milliseconds;
}

export async function openLives({
  start,
  server,
  now,
  requestTimeout,
  ...options
}: LivesOptions): Promise<Lives> {
  const calls: Entry[] = [];
  const lives: Life[] = [];
  const kill = (): void => lives.at(-1)?.die();
  const proxies = await openProxies({ ...options, upstream: server.upstream, calls, onKill: kill });
  // What a shared server holds at the end is known from the record, so that way leads through the proxy.
  const { url, token } = "url" in server.upstream && !server.isShared ? server.upstream : proxies.cluster;
  return {
    server: { server: url, token },
    record: proxies.cluster.record,
    calls,
    kill,
    async current() {
      const last = lives.at(-1);
      if (last?.isDead() === false) return last;
      const life = await beginLife({ start, doors: await proxies.enter(), now, requestTimeout });
      lives.push(life);
      return life;
    },
    async close() {
      await Promise.all(lives.map((life) => life.close()));
      await proxies.close();
    },
  };
}
