import { RunTimeoutError } from "@drover/queue";
import type { CallRecord } from "../fault-proxy/index.ts";
import type { ApiAddress } from "../kubectl/api-address.ts";
import {
  startFunctionProcess,
  type FunctionProcess,
  type FunctionProcessOptions,
} from "./function-process.ts";
import { openProxies, type ProxiesOptions } from "./proxies.ts";
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
  /** The living process; starts one if the last one was killed. */
  current(): Promise<FunctionProcess>;
  kill(): void;
  /**
   * Must be called when the run of a controller begins, and with undefined when it ends: calls count as that controller's.
   * The signal fires at the run's timeout: as no time passes in a run, when a call of it hangs.
   */
  running(controller: string | undefined): AbortSignal;
  /** The missing permissions of refused calls, each with its remedy. */
  missingPermissions(): readonly string[];
  close(): Promise<void>;
}

export interface FunctionProcessesOptions
  extends
    Omit<FunctionProcessOptions, "listeners">,
    Pick<ProxiesOptions, "views" | "outside" | "isCalled" | "decider" | "sleep"> {
  readonly server: Pick<TestServer, "upstream" | "isShared">;
  /** How the function is deployed, which determines its permissions. */
  readonly deployedAs?: DeployedAs | undefined;
}

export async function openFunctionProcesses(options: FunctionProcessesOptions): Promise<FunctionProcesses> {
  const { server, deployedAs } = options;
  const calls: CallRecord[] = [];
  const processes: FunctionProcess[] = [];
  const kill = (): void => processes.at(-1)?.kill();
  let rights: Rights | undefined;
  let running: string | undefined;
  let timeout = new AbortController();
  const proxies = await openProxies({
    ...options,
    upstream: server.upstream,
    calls,
    onKill: kill,
    onHang: () => timeout.abort(new RunTimeoutError("The run took longer than its timeout and was stopped.")),
    authorize: (call) => rights?.refusalOf(call),
  });
  // The record has the objects to remove from a shared server, so calls to it pass through the proxy.
  const { url, token } = "url" in server.upstream && !server.isShared ? server.upstream : proxies.cluster;
  return {
    server: { server: url, token },
    record: proxies.cluster.record,
    calls,
    kill,
    running(controller) {
      running = controller;
      timeout = new AbortController();
      return timeout.signal;
    },
    missingPermissions: () => rights?.missing() ?? [],
    async current() {
      const last = processes.at(-1);
      if (last?.isDead() === false) return last;
      const process = await startFunctionProcess({ ...options, listeners: await proxies.openListeners() });
      processes.push(process);
      if (rights === undefined) {
        rights = rightsOf({
          controllers: process.controllers,
          deployedAs,
          called: process.called?.spec,
          running: () => running,
        });
        // Calls before its controllers were known have passed unchecked.
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
