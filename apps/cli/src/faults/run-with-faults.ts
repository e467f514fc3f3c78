import {
  decidePlan,
  describeEntry,
  describeEvent,
  type Entry,
  eventEntry,
  type FaultProxy,
  type Plan,
  type PlannedDecider,
  startFaultProxy,
} from "@drover/fault-proxy";
import type { CredentialSource } from "@drover/kube";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { CommandError } from "../command-error.ts";
import { commandEnvironment } from "../config.ts";
import { type MortalCommand, mortalCommand } from "./mortal-command.ts";

export interface FaultsOptions {
  readonly plan: Plan;
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
  const decider = decidePlan(plan);
  const views = Object.fromEntries(Object.entries(view).map(([name, path]) => [name, { kubeconfig: path }]));
  let running: MortalCommand | undefined;
  const proxy = await startFaultProxy({
    upstream: { kubeconfig, context },
    views,
    port,
    decider: telling(decider),
    onEntry: (entry) => tell(describeEntry(entry)),
    // Without a command to kill, only the connections are dropped.
    onKill: () => (running === undefined ? proxy.nextLife() : running.die()),
  });
  const folder = await mkdtemp(join(tmpdir(), "drover-faults-"));
  try {
    const path = resolve(options.writeKubeconfig ?? join(folder, "kubeconfig"));
    await writeFile(path, proxy.kubeconfig(), { mode: 0o600 });
    const [command, ...args] = options.command;
    if (command === undefined) {
      tell(`The API server with faults is ${proxy.url}, its kubeconfig ${path}. Ctrl-C ends it.`);
    } else {
      const env = commandEnvironment(path);
      running = mortalCommand({ command, args, env, onDeath: () => proxy.nextLife() });
    }
    const code = await theEnd(running);
    if (options.record !== undefined) await writeFile(options.record, recordOf(proxy, decider));
    return summary(proxy.record, decider, "seed" in plan) || code;
  } finally {
    await proxy.close();
    await rm(folder, { recursive: true });
  }
}

function refuseUnknownViews(plan: Plan, views: FaultsOptions["view"]): void {
  if (!("rules" in plan)) return;
  for (const { fault } of plan.rules) {
    if (fault.do === "stale" && !(fault.view in views))
      throw new CommandError(
        `The plan has a view ${fault.view}. Give its kubeconfig: --view ${fault.view}=KUBECONFIG`,
      );
  }
}

const tell = (line: string): void => console.error(line);

/** Faults of events are logged as they happen; those of calls are part of the calls' entries. */
const telling = (decider: PlannedDecider): PlannedDecider => ({
  ...decider,
  ofEvent(event, call) {
    const fault = decider.ofEvent(event, call);
    if (fault !== undefined) tell(`#${call.id} ${describeEvent(eventEntry(event, fault))}`);
    return fault;
  },
});

/** Passes Ctrl-C and SIGTERM on to the command. Resolves with the exit code. */
async function theEnd(command: MortalCommand | undefined): Promise<number> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const stopped = (["SIGINT", "SIGTERM"] as const).map(async (name) => {
    await once(process, name, { signal });
    command?.end(name);
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
function summary(record: readonly Entry[], decider: PlannedDecider, isSeeded: boolean): number {
  const faults = record.flatMap(({ fault, events }) => [...(fault === undefined ? [] : [fault]), ...events]);
  const lives = new Set(record.map(({ call }) => call.life)).size;
  tell(`Calls: ${record.length}. Faults: ${faults.length}. Lives: ${lives}.`);
  if (isSeeded) tell(`To repeat this run, use the plan: ${JSON.stringify(decider.again())}`);
  const unmet = decider.unmet();
  for (const rule of unmet) tell(`Not met: ${JSON.stringify(rule)}`);
  return unmet.length > 0 ? 1 : 0;
}

const recordOf = ({ record }: FaultProxy, decider: PlannedDecider): string =>
  `${JSON.stringify({ plan: decider.again(), unmet: decider.unmet(), calls: record }, null, 2)}\n`;
