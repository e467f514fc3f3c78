import { isAborted, sleepUnlessAborted } from "@drover/timers";
import { type Log, messageOf, type Milliseconds } from "@drover/controller";
import { spawnTied, type TiedProcess } from "@drover/local-servers";
import {
  type ContainerStart,
  type ContainerState,
  type ContainerView,
  terminatedBy,
  isRestarted,
  type RestartPolicy,
  type Terminated,
} from "./container-state.ts";
import type { Launch } from "./launch.ts";
import { timestampNow } from "../timestamp-now.ts";
import type { Container } from "../pods/pod.ts";
import { runProbe } from "./probe.ts";
import { type BackOff, restartDelay } from "./restart-delay.ts";

export interface ContainerRunOptions {
  readonly container: Container;
  readonly policy: RestartPolicy;
  readonly beginning: ContainerStart;
  readonly address: string;
  readonly logFile: string;
  readonly backOff: BackOff;
  /** From SIGTERM to SIGKILL where a probe ends it. */
  readonly grace: Milliseconds;
  readonly probePeriod: Milliseconds | undefined;
  /** Returns the process to start, or why it cannot be started yet. */
  readonly prepare: () => Promise<Launch | { readonly reason: string; readonly message: string }>;
  /** Called whenever the view has changed. */
  readonly onChange: () => void;
  readonly log: Log;
}

/** One container of a pod, from its first start to its end. */
export interface ContainerRun {
  readonly view: () => ContainerView;
  /** SIGTERM, after `grace` SIGKILL, and no restart. May be called again with a shorter grace. */
  readonly stop: (grace: Milliseconds) => void;
  /** Resolves when it runs no more and will not be started again. Never rejects. */
  readonly over: Promise<void>;
}

/** Starts a container, and restarts it according to its policy. */
export function runContainer(parts: ContainerRunOptions): ContainerRun {
  const { container, beginning } = parts;
  const stopping = new AbortController();
  let child: TiedProcess | undefined;
  let grace: Milliseconds = 0;
  let view: ContainerView = {
    name: container.name,
    image: container.image,
    pid: undefined,
    started: false,
    ready: false,
    last: beginning.last,
    restarts: beginning.restarts,
    state:
      beginning.over === undefined
        ? { waiting: { reason: "ContainerCreating" } }
        : { terminated: beginning.over },
  };
  const change = (changed: Partial<ContainerView>): void => {
    view = { ...view, ...changed };
    parts.onChange();
  };
  const stop = (span: Milliseconds): void => {
    grace = span;
    stopping.abort();
    void child?.stop({ graceMs: grace });
  };
  const run = async (launch: Launch): Promise<Terminated> => {
    child = await startProcess(parts, launch);
    if (stopping.signal.aborted) void child.stop({ graceMs: grace });
    const startedAt = timestampNow();
    change({ state: { running: { startedAt } }, pid: child.pid, ...initialReadiness(container) });
    const probing = new AbortController();
    probe(parts, AbortSignal.any([probing.signal, stopping.signal]), change, child);
    const exit = await child.exited;
    probing.abort();
    child = undefined;
    const end = terminatedBy(exit, startedAt);
    change({ state: { terminated: end }, started: false, ready: false });
    return end;
  };
  const over =
    beginning.over === undefined
      ? runUntilStopped(parts, run, change, () => view, stopping.signal)
      : Promise.resolve();
  return { view: () => view, stop, over };
}

type Change = (changed: Partial<ContainerView>) => void;

/** Starts the process again and again, until it is stopped or the policy forbids a restart. */
async function runUntilStopped(
  parts: ContainerRunOptions,
  run: (launch: Launch) => Promise<Terminated>,
  change: Change,
  view: () => ContainerView,
  stopping: AbortSignal,
): Promise<void> {
  const delayOf = restartDelay(parts.backOff);
  while (!stopping.aborted) {
    const launch = await untilPrepared(parts, change, stopping);
    if (launch === undefined) return;
    const begun = performance.now();
    const end = await run(launch).catch((error: unknown) => notStarted(parts, error, change));
    if (isAborted(stopping) || !isRestarted(parts.policy, end)) return;
    const span = delayOf(performance.now() - begun);
    const message = `back-off ${span}ms restarting failed container=${parts.container.name}`;
    change({ last: end, state: { waiting: { reason: "CrashLoopBackOff", message } } });
    await sleepUnlessAborted(span, stopping);
    if (isAborted(stopping)) change({ state: { terminated: end } });
    else change({ restarts: view().restarts + 1 });
  }
}

/** A missing object may appear at any time, and a check is cheap. */
const maxPrepareDelay: Milliseconds = 1000;

/** Prepares the process until that succeeds; undefined if the container is stopped before. */
async function untilPrepared(
  { prepare, backOff }: ContainerRunOptions,
  change: Change,
  stopping: AbortSignal,
): Promise<Launch | undefined> {
  const delayOf = restartDelay({ ...backOff, most: Math.min(backOff.most, maxPrepareDelay) });
  for (;;) {
    const launch = await prepare();
    if (isAborted(stopping)) return undefined;
    if ("command" in launch) return launch;
    const state: ContainerState = { waiting: launch };
    change({ state });
    await sleepUnlessAborted(delayOf(0), stopping);
  }
}

const startProcess = (
  { container, logFile }: ContainerRunOptions,
  { command, args, env, cwd }: Launch,
): Promise<TiedProcess> =>
  // Pods of one node have its clock.
  spawnTied({
    name: container.name,
    machine: "node",
    command,
    args,
    env,
    logFile,
    ...(cwd !== undefined && { cwd }),
  });

/** The process could not even be tried: no such working directory, or the log cannot be written. */
function notStarted({ log, container }: ContainerRunOptions, error: unknown, change: Change): Terminated {
  const message = messageOf(error);
  log.warn({ container: container.name, err: error }, "Could not start a container");
  const end = { exitCode: 128, reason: "StartError", message, finishedAt: timestampNow() };
  change({ state: { terminated: end }, started: false, ready: false });
  return end;
}

/** The readiness of a container before its first probe. */
const initialReadiness = ({ startupProbe, readinessProbe }: Container) => ({
  started: startupProbe == null,
  ready: startupProbe == null && readinessProbe == null,
});

/** Startup first, then readiness and liveness; a container that fails startup or liveness is ended. */
function probe(parts: ContainerRunOptions, signal: AbortSignal, change: Change, child: TiedProcess): void {
  const { startupProbe, readinessProbe, livenessProbe } = parts.container;
  const keep = (
    probe: NonNullable<typeof startupProbe>,
    until: AbortSignal,
    onResult: (holds: boolean) => void,
  ) => void runProbe({ ...parts, probe, period: parts.probePeriod, signal: until }, onResult);
  let isEnding = false;
  const end = (): void => {
    if (!isEnding) void child.stop({ graceMs: parts.grace });
    isEnding = true;
  };
  const begun = (): void => {
    if (readinessProbe != null) {
      let ready: boolean | undefined;
      keep(readinessProbe, signal, (holds) => {
        if (ready !== holds) change({ ready: holds });
        ready = holds;
      });
    }
    if (livenessProbe != null)
      keep(livenessProbe, signal, (holds) => {
        if (!holds) end();
      });
  };
  if (startupProbe == null) {
    begun();
    return;
  }
  const decided = new AbortController();
  keep(startupProbe, AbortSignal.any([signal, decided.signal]), (holds) => {
    decided.abort();
    if (!holds) {
      end();
      return;
    }
    change({ started: true, ready: readinessProbe == null });
    begun();
  });
}
