import type { Milliseconds } from "@drover/controller";
import type { CallRecord, FaultDecider, Upstream } from "../fault-proxy/index.ts";
import type { ApiAddress } from "../kubectl/api-address.ts";
import type { FunctionUnderTest } from "../function-under-test.ts";
import { startFunctionProcess, type FunctionProcess } from "./function-process.ts";
import { openProxies } from "./proxies.ts";
import { type DeployedAs, type Rights, rightsOf } from "../rights.ts";
import type { TestServer } from "../test-server.ts";

/** The processes of one function, one after the other. */
export interface FunctionProcesses {
  /** The API server for the test itself: no faults. */
  readonly server: ApiAddress;
  /** Every call, the test's own, too. */
  readonly record: readonly CallRecord[];
  /** Every call of every process. */
  readonly calls: readonly CallRecord[];
  /** The one that is alive; begun where the last one was killed. */
  current(): Promise<FunctionProcess>;
  kill(): void;
  /** To be called as the run of a controller begins, and without one when it has ended: it is the one that calls. */
  running(controller: string | undefined): void;
  /** What was refused since no permission is for it, and what to do about it. */
  missingPermissions(): readonly string[];
  close(): Promise<void>;
}

export interface FunctionProcessesOptions {
  readonly start: FunctionUnderTest;
  readonly server: Pick<TestServer, "upstream" | "isShared">;
  /** Older states of the API server, by name, for faults to lead to. */
  readonly views?: Readonly<Record<string, Upstream>>;
  /** Servers outside of the cluster, by the name under which the function finds them. */
  readonly outside?: Readonly<Record<string, string>>;
  /** What goes wrong with the function's calls, of the cluster and of servers outside. */
  readonly decider?: FaultDecider;
  /** How the function is deployed, by which it is known what it may do. */
  readonly deployedAs?: DeployedAs | undefined;
  /** In place of the time of a fault that is a delay. */
  readonly sleep?: () => Promise<void>;
  readonly now: () => Date;
  /** Until a request is given up. */
  readonly requestTimeout: Milliseconds;
}

export async function openFunctionProcesses({
  start,
  server,
  now,
  requestTimeout,
  deployedAs,
  ...options
}: FunctionProcessesOptions): Promise<FunctionProcesses> {
  const calls: CallRecord[] = [];
  const processes: FunctionProcess[] = [];
  const kill = (): void => processes.at(-1)?.kill();
  let rights: Rights | undefined;
  let running: string | undefined;
  const proxies = await openProxies({
    ...options,
    upstream: server.upstream,
    calls,
    onKill: kill,
    authorize: (call) => rights?.refusalOf(call),
  });
  // What a shared server holds at the end is known from the record, so that way leads through the proxy.
  const { url, token } = "url" in server.upstream && !server.isShared ? server.upstream : proxies.cluster;
  return {
    server: { server: url, token },
    record: proxies.cluster.record,
    calls,
    kill,
    running: (controller) => void (running = controller),
    missingPermissions: () => rights?.missing() ?? [],
    async current() {
      const last = processes.at(-1);
      if (last?.isDead() === false) return last;
      const process = await startFunctionProcess({
        start,
        listeners: await proxies.openListeners(),
        now,
        requestTimeout,
      });
      processes.push(process);
      if (rights === undefined) {
        rights = rightsOf({ controllers: process.controllers, deployedAs, running: () => running });
        // Those that came before its controllers were known were let pass.
        for (const { call } of calls) rights.refusalOf(call);
      }
      return process;
    },
    async close() {
      await Promise.all(processes.map((process) => process.close()));
      await proxies.close();
    },
  };
}
