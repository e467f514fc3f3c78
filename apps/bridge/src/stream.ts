import type { Log } from "@drover/controller";
import {
  type KubeClient,
  nameOf,
  type Reflector,
  type ReflectorEvent,
  runReflector,
  type Subscription,
} from "@drover/kube";
import type { WorkQueue } from "@drover/queue";
import type { Registration } from "./registrations.ts";
import { wakesOf } from "./wakes-of.ts";

/** One controller's stream: what is watched for it, and the queue that its keys are woken in. */
export interface Stream {
  readonly kind: string;
  readonly queue: WorkQueue;
  readonly reflector: Reflector;
  /** List again and wake every key: the queue may have lost what it had acknowledged. */
  relist(): void;
}

/**
 * Watch a controller's kind and wake its keys. The next event is read when the wake of this one is in Redis: while
 * Redis is away nothing is read, and nothing is forgotten.
 */
export function startStream(options: {
  registration: Registration;
  queue: WorkQueue;
  client: KubeClient;
  signal: AbortSignal;
  log: Log;
}): Stream {
  const { registration, queue, client, signal, log } = options;
  const subscription: Subscription = { map: "for", ref: registration.for };
  const onEvent = async (event: ReflectorEvent): Promise<void> => {
    if (event.type === "synced") log.info({ kind, at: event.resourceVersion }, "Listed; watching");
    const wakes = wakesOf(event, subscription);
    if (wakes.length === 0) return;
    await queue.wake(wakes);
    for (const { key, reason } of wakes) log.info({ key, reason, controller: queue.controller }, "Woke");
  };
  const kind = nameOf(registration.for);
  const follow = (): { reflector: Reflector; leave: AbortController } => {
    const leave = new AbortController();
    const ends = AbortSignal.any([signal, leave.signal]);
    return { reflector: runReflector({ client, ref: registration.for, signal: ends, onEvent, log }), leave };
  };
  let following = follow();
  return {
    kind,
    queue,
    get reflector() {
      return following.reflector;
    },
    relist() {
      if (signal.aborted) return;
      log.warn({ kind, controller: queue.controller }, "Redis may have lost wakes; listing again");
      following.leave.abort();
      following = follow();
    },
  };
}

/** A stream that has heard nothing for longer than this, though it reconnects after 60 s, is not well. */
const tooSilent = 90_000;

/**
 * Why a stream keeps the bridge from being ready; undefined when it does not. A kind that cannot be followed until
 * somebody acts (no such kind, no permission) is that controller's trouble, not the others'.
 */
export function streamProblem({ kind, reflector }: Stream): string | undefined {
  const { synced, degraded, silentFor, lastFailure } = reflector.status();
  if (degraded !== undefined) return undefined;
  if (!synced)
    return `${kind} is not listed yet${lastFailure === undefined ? "" : `: ${lastFailure.message}`}`;
  if (silentFor > tooSilent) return `${kind} has been silent for ${Math.round(silentFor / 1_000)} s`;
  return undefined;
}
