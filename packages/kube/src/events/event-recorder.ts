import type { Log, Milliseconds, ObjectKey } from "@drover/controller";
import type { KubeClient } from "../client/client.ts";
import { ApiError, isApiError } from "../errors.ts";
import { keyOf } from "../objects/kube-object.ts";
import { builtin } from "../objects/resource-ref.ts";
import { type CancelTimer, processTimers, type Timers } from "@drover/timers";
import {
  eventMemory,
  type EventMemory,
  isUnwritten,
  repeatWindow,
  type RememberedEvent,
} from "./event-memory.ts";
import { spamFilter } from "./spam-filter.ts";
import { eventObject, type RecordedEvent, type Reporter, seriesOf } from "./recorded-event.ts";

/**
 * Writes Kubernetes Events in the background. Some may be lost.
 *
 * Guarantees: `record` neither waits nor throws; an event that is repeated within ten minutes is counted on the
 * existing Event; an object causes at most 25 writes in a burst, and then one every five minutes; memory is bounded.
 * Caveat: events that cannot be written are lost in the end. Events are for people to read; programs must not rely on
 * them.
 */
export interface EventRecorder {
  record(event: RecordedEvent): void;
  /** To call when `isBusy` no longer returns true: events that wait are written now. */
  idle(): void;
  /** Attempts once to write all events that are not written yet. Never rejects. */
  flush(): Promise<void>;
  /** Flushes, and stops: later events are ignored. */
  close(): Promise<void>;
}

export interface EventRecorderOptions extends Reporter {
  readonly client: Pick<KubeClient, "create" | "patch">;
  readonly log: Log;
  /**
   * While it returns true, an event waits before it is written, for thirty seconds at most, and not if more than a
   * thousand wait. Default: none waits.
   */
  readonly isBusy?: () => boolean;
  readonly timers?: Timers;
  readonly date?: () => Date;
}

/** Shortest interval between two writes of one event's count. */
const countEvery: Milliseconds = 1_000;
/** Longest time that an event waits for more urgent work, and the most that wait. */
const giveWayFor: Milliseconds = 30_000;
const mostWaiting = 1_024;
/** After so many records, the number of those that wait is checked again. */
const checkEvery = 256;
/** Wait after a failed write, unless the server asks for another one. */
const retryEvery: Milliseconds = 10_000;
const writeTimeout: Milliseconds = 5_000;
const mostRemembered = 4_096;

export function eventRecorder(options: EventRecorderOptions): EventRecorder {
  const { timers = processTimers, date = () => new Date() } = options;
  const memory = eventMemory(mostRemembered);
  const write = writerOf(options, timers, (remembered) => memory.forget(remembered));
  const urgent = urgentWork(options, timers, memory);
  const isDue = ({ triedAt }: RememberedEvent): boolean => timers.now() - triedAt >= countEvery;
  let alarm: CancelTimer | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isQueued = false;
  let closed = false;

  const pass = async (isWanted: (remembered: RememberedEvent) => boolean): Promise<void> => {
    for (const remembered of memory.all()) {
      if (isUnwritten(remembered) && isWanted(remembered)) {
        await urgent.giveWay(remembered);
        await write(remembered);
      } else if (timers.now() - remembered.recordedAt > repeatWindow) memory.forget(remembered);
    }
  };
  const scheduleWrites = (): void => {
    if (isQueued) return;
    isQueued = true;
    writing = writing.then(async () => {
      isQueued = false;
      await pass(isDue);
      alarm?.();
      alarm =
        !closed && memory.all().some(isUnwritten)
          ? timers.after(countEvery, "events", scheduleWrites)
          : undefined;
    });
  };
  const flush = (): Promise<void> => (writing = writing.then(() => pass(() => true)));

  return {
    record: (event) => {
      if (closed) return;
      memory.record(event, timers.now(), date());
      urgent.recorded();
      scheduleWrites();
    },
    idle: urgent.idle,
    flush,
    close: async () => {
      closed = true;
      urgent.close();
      alarm?.();
      await flush();
    },
  };
}

/** The work that events wait for. */
function urgentWork(
  { isBusy = () => false }: EventRecorderOptions,
  timers: Timers,
  memory: Pick<EventMemory, "all">,
) {
  let closed = false;
  let recorded = 0;
  let stopWaiting = (): void => undefined;
  const isFirst = ({ recordedAt }: RememberedEvent): boolean =>
    !closed &&
    isBusy() &&
    timers.now() - recordedAt < giveWayFor &&
    memory.all().filter(isUnwritten).length <= mostWaiting;
  return {
    async giveWay(remembered: RememberedEvent): Promise<void> {
      while (isFirst(remembered)) {
        const wait = Promise.withResolvers<undefined>();
        stopWaiting = () => wait.resolve(undefined);
        const cancel = timers.after(remembered.recordedAt + giveWayFor - timers.now(), "events", stopWaiting);
        await wait.promise;
        cancel();
      }
    },
    idle: (): void => stopWaiting(),
    recorded(): void {
      recorded += 1;
      if (recorded % checkEvery === 0) stopWaiting();
    },
    close(): void {
      closed = true;
      stopWaiting();
    },
  };
}

/** Writes one event if the spam filter and the server allow it. Logs the first failure since the last success. */
function writerOf(
  options: EventRecorderOptions,
  timers: Timers,
  forget: (remembered: RememberedEvent) => void,
) {
  const filter = spamFilter(mostRemembered);
  let holdUntil = -Infinity;
  let hasWarned = false;
  return async (remembered: RememberedEvent): Promise<void> => {
    const now = timers.now();
    if (now < holdUntil) return;
    remembered.triedAt = now;
    if (!filter.take(remembered.event.regarding.metadata.uid, now)) {
      if (remembered.key === undefined) forget(remembered);
      return;
    }
    const { count } = remembered.series;
    try {
      remembered.key = await writeEvent(options, remembered);
      remembered.written = count;
      hasWarned = false;
    } catch (error) {
      if (!hasWarned)
        options.log.warn({ err: error }, "events cannot be written; they are lost unless this ends soon");
      hasWarned = true;
      if (isPermanent(error)) forget(remembered);
      else
        holdUntil = timers.now() + ((error instanceof ApiError ? error.retryAfter : undefined) ?? retryEvery);
    }
  };
}

async function writeEvent(
  { client, ...reporter }: EventRecorderOptions,
  remembered: RememberedEvent,
): Promise<ObjectKey> {
  const options = { timeout: writeTimeout };
  if (remembered.key !== undefined) {
    try {
      await client.patch(
        builtin.event,
        remembered.key,
        { type: "merge", body: seriesOf(remembered.series) },
        options,
      );
      return remembered.key;
    } catch (error) {
      // Kubernetes has deleted the Event: create it again.
      if (!isApiError(error, "NotFound")) throw error;
    }
  }
  return keyOf(
    await client.create(builtin.event, eventObject(remembered.event, reporter, remembered.series), options),
  );
}

/** True if a retry cannot help: permission is missing, the namespace is being deleted, or the Event is refused. */
const isPermanent = (error: unknown): boolean =>
  isApiError(error, "Forbidden", "Unauthorized", "Invalid", "NotFound", "NotServed", "AlreadyExists");
