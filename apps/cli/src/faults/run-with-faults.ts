import {
  faultPlanDecider,
  describeEntry,
  describeEvent,
  type CallRecord,
  eventRecord,
  type FaultProxy,
  type FaultPlan,
  type FaultPlanDecider,
  startFaultProxy,
} from "@drover/testing/fault-proxy";
import type { CredentialSource } from "@drover/kube";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { CommandError } from "../command-error.ts";
import { commandEnvironment } from "../config.ts";
import { type RestartedCommand, runRestarted } from "./restarted-command.ts";

export interface FaultsOptions {
  readonly plan: FaultPlan;
  /** Kubeconfig of the cluster. */
  readonly kubeconfig: CredentialSource["kubeconfig"];
  readonly context?: string | undefined;
  readonly port: number;
  /** Kubeconfigs of other servers. */
  readonly view: Readonly<Record<string, string>>;
  readonly writeKubeconfig?: string | undefined;
  readonly record?: string | undefined;
  /** Empty: run until Ctrl-C. */
  readonly command: readonly string[];
}

/** Runs a command behind a fault proxy, and logs all calls on stderr. Resolves with the exit code. */
export async function runWithFaults(options: FaultsOptions): Promise<number> {
  const { plan, kubeconfig, context, view, port } = options;
  refuseUnknownViews(plan, view);
  const decider = faultPlanDecider(plan);
  const views = Object.fromEntries(Object.entries(view).map(([name, path]) => [name, { kubeconfig: path }]));
  let running: RestartedCommand | undefined;
  const proxy = await startFaultProxy({
    upstream: { kubeconfig, context },
    views,
    port,
    decider: loggingDecider(decider),
    onEntry: (entry) => log(describeEntry(entry)),
    // Without a command to kill, only the connections are dropped.
    onKill: () => (running === undefined ? proxy.nextProcess() : running.kill()),
  });
  const folder = await mkdtemp(join(tmpdir(), "drover-faults-"));
  try {
    const path = resolve(options.writeKubeconfig ?? join(folder, "kubeconfig"));
    await writeFile(path, proxy.kubeconfig(), { mode: 0o600 });
    const [command, ...args] = options.command;
    if (command === undefined) {
      log(`The API server with faults is ${proxy.url}, its kubeconfig ${path}. Ctrl-C ends it.`);
    } else {
      const env = commandEnvironment(path);
      running = runRestarted({ command, args, env, onDeath: () => proxy.nextProcess() });
    }
    const code = await waitForEnd(running);
    if (options.record !== undefined) await writeFile(options.record, recordOf(proxy, decider));
    return summary(proxy.record, decider, "seed" in plan) || code;
  } finally {
    await proxy.close();
    await rm(folder, { recursive: true });
  }
}

function refuseUnknownViews(plan: FaultPlan, views: FaultsOptions["view"]): void {
  if (!("rules" in plan)) return;
  for (const { fault } of plan.rules) {
    if (fault.do === "stale" && !(fault.view in views))
      throw new CommandError(
        `The plan has a view ${fault.view}. Give its kubeconfig: --view ${fault.view}=KUBECONFIG`,
      );
  }
}

const log = (line: string): void => console.error(line);

/** Faults of events are logged as they happen; those of calls are part of the calls' entries. */
const loggingDecider = (decider: FaultPlanDecider): FaultPlanDecider => ({
  ...decider,
  ofEvent(event, call) {
    const fault = decider.ofEvent(event, call);
    if (fault !== undefined) log(`#${call.id} ${describeEvent(eventRecord(event, fault))}`);
    return fault;
  },
});

/** Passes Ctrl-C and SIGTERM on to the command. Resolves with the exit code. */
async function waitForEnd(command: RestartedCommand | undefined): Promise<number> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const stopped = (["SIGINT", "SIGTERM"] as const).map(async (name) => {
    await once(process, name, { signal });
    command?.terminate(name);
    return 0;
  });
  for (const each of stopped) each.catch(() => undefined);
  try {
    return await (command === undefined ? Promise.race(stopped) : command.ended);
  } finally {
    stopping.abort();
  }
}

/** Prints the plan's results. Returns 1 if a rule of the plan matched nothing, otherwise 0. */
function summary(record: readonly CallRecord[], decider: FaultPlanDecider, isSeeded: boolean): number {
  const faults = record.flatMap(({ fault, events }) => [...(fault === undefined ? [] : [fault]), ...events]);
  const lives = new Set(record.map(({ call }) => call.life)).size;
  log(`Calls: ${record.length}. Faults: ${faults.length}. Lives: ${lives}.`);
  if (isSeeded) log(`To repeat this run, use the plan: ${JSON.stringify(decider.replayPlan())}`);
  const unmet = decider.unusedRules();
  for (const rule of unmet) log(`Not met: ${JSON.stringify(rule)}`);
  return unmet.length > 0 ? 1 : 0;
}

const recordOf = ({ record }: FaultProxy, decider: FaultPlanDecider): string =>
  `${JSON.stringify({ plan: decider.replayPlan(), unmet: decider.unusedRules(), calls: record }, null, 2)}\n`;
