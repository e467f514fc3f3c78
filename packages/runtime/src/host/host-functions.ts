import { messageOf, type Milliseconds, type Resource } from "@drover/controller";
import type { WorkQueue } from "@drover/queue";
import { isAborted, sleepUnlessAborted } from "@drover/timers";
import type { FunctionSettings } from "../process/function-settings.ts";
import { queueMetrics, type RunMetrics, runMetrics } from "../process/process-metrics.ts";
import type { Process } from "../process/run-process.ts";
import type { FunctionDefinition } from "../worker/function-definition.ts";
import { resolveIdentity } from "../worker/resolve-identity.ts";
import { serveDefinition } from "../worker/run-function.ts";
import type { ReadinessResult } from "../http/process-server.ts";
import { openPart } from "./process-part.ts";

/** A function that shares a process with others. */
export interface HostedFunction<
  Settings extends FunctionSettings = FunctionSettings,
  R extends Resource = Resource,
> extends Pick<FunctionDefinition<Settings, R>, "name" | "controller"> {
  /** With `function`: the ReconcileFunction that it runs for, and the ServiceAccount that it acts as. */
  readonly settings: Settings;
}

/** Time until a function that has failed is started again, and between two reads of its ReconcileFunction. */
const retryDelay: Milliseconds = 5_000;

const isStarting = "is still starting";

/**
 * Runs several functions in one process, until it is asked to stop. They share the connections and the listener of the
 * process. Each has its own queue, pace, log and metrics.
 *
 * - A function that cannot start, or that fails, is closed and started again; `/readyz` reports it meanwhile. The others
 *   continue.
 * - When the process stops, all of them end their runs at the same time, within one grace.
 * - A function with a ReconcileFunction sends its requests as the ServiceAccount of that namespace and name. So it has the
 *   permissions of this account, whatever the other functions may do. The process must be allowed to `impersonate` it,
 *   and to `get` the ReconcileFunction.
 */
export function hostFunctions(
  process: Process,
  hosted: readonly HostedFunction[],
  delay: Milliseconds = retryDelay,
): void {
  const queues = new Map<string, readonly WorkQueue[]>();
  const shared = { process, queues, runs: runMetrics(process.registry), delay };
  queueMetrics(process.registry, () => [...queues.values()].flat());
  const ended = Promise.allSettled(hosted.map((one) => keepRunning(one, shared)));
  process.closing("functions", async () => {
    const failed = (await ended).find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
  });
}

interface Shared {
  readonly process: Process;
  /** The queues of the functions that take keys now, by function. */
  readonly queues: Map<string, readonly WorkQueue[]>;
  readonly runs: RunMetrics;
  readonly delay: Milliseconds;
}

/** @throws AggregateError if something could not be closed when the process stopped. */
async function keepRunning(hosted: HostedFunction, { process, queues, runs, delay }: Shared): Promise<void> {
  const { name, settings } = hosted;
  const { stopping, client } = process;
  const { function: registered } = settings;
  const log = process.log.child({ hosted: name });
  const own = { settings, log, client: registered === undefined ? client : client.as(registered) };
  let isReady: () => ReadinessResult | Promise<ReadinessResult> = () => isStarting;
  process.readiness(name, () => isReady());
  while (!isAborted(stopping)) {
    const part = openPart(process, own);
    // The process itself reads the ReconcileFunction: the function's account need not.
    const reader = { ...part.process, client };
    const identity =
      registered === undefined ? Promise.resolve(undefined) : resolveIdentity(registered, reader, delay);
    try {
      isReady = async () => (await part.isReady()) ?? (queues.has(name) ? undefined : isStarting);
      queues.set(name, await serveDefinition(hosted, part.process, { identity, runs }));
      await part.ended;
    } catch (error) {
      isReady = () => messageOf(error);
      if (!isAborted(stopping)) log.error({ err: error, again: delay }, failure(name, error));
    }
    queues.delete(name);
    const closed = part.close();
    // Reported by the part itself.
    await (isAborted(stopping) ? closed : closed.catch(() => undefined));
    await sleepUnlessAborted(delay, stopping);
  }
}

const failure = (name: string, error: unknown): string =>
  `${name} does not run, and is started again; the other functions continue: ${messageOf(error)}`;
