import { type Log, messageOf, type Milliseconds, type ObjectKey, sessionLabel } from "@drover/controller";
import {
  isObjectEvent,
  type KubeClient,
  type KubeObject,
  type ReflectorEvent,
  type ResourceRef,
  runReflector,
} from "@drover/kube";
import { type DevSession, placeIn } from "@drover/runtime";
import { type DeployedFor, deployedFor } from "./deployed-for.ts";
import type { SessionLabels } from "./session-labels.ts";

export interface FollowSessionOptions {
  readonly client: KubeClient;
  readonly ref: ResourceRef;
  /** The Deployment of a function with a bridge in its process. */
  readonly embedded: ObjectKey | undefined;
  /** Left out: all. */
  readonly namespaces: readonly string[] | undefined;
  readonly session: DevSession;
  readonly labels: Pick<SessionLabels, "isChosen" | "mark">;
  /** False if Drover does not write the kind's status: a deployed function cannot acknowledge then. */
  readonly hasStatus: boolean;
  /** Runs the key now: the session may reconcile it from now on. */
  readonly onAcknowledged: (key: ObjectKey) => Promise<void>;
  readonly print: (text: string) => void;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Calls back after a time, unless cancelled. Default: by the process clock. */
  readonly after?: (span: Milliseconds, callback: () => void) => () => void;
}

/** The objects of a session, as its user sees them. */
export interface FollowedSession {
  /** True if the session may reconcile the object. */
  isHere(key: ObjectKey): boolean;
  readonly done: Promise<unknown>;
}

/** A deployed function acknowledges within a second, unless a Pod has to start. */
const late: Milliseconds = 10_000;

const byProcessClock: NonNullable<FollowSessionOptions["after"]> = (span, callback) => {
  const timer = setTimeout(callback, span);
  return () => clearTimeout(timer);
};

/** How long an object has been waited for, by uid. */
interface Waiting {
  readonly uid: string;
  readonly cancel: () => void;
}

/**
 * Follows the objects with the session's label, until the signal. Marks those that were chosen, and for an object that a
 * deployed function runs, waits for the acknowledgement.
 */
export function followSession(options: FollowSessionOptions): FollowedSession {
  const { client, ref, namespaces, session, log, signal, print, after = byProcessClock } = options;
  const here = new Set<ObjectKey>();
  const waiting = new Map<ObjectKey, Waiting>();
  const stopWaiting = (key: ObjectKey): void => {
    waiting.get(key)?.cancel();
    waiting.delete(key);
  };
  const begin = async (key: ObjectKey): Promise<void> => {
    stopWaiting(key);
    if (here.has(key)) return;
    here.add(key);
    print(`${ref.kind} ${key} runs here now.`);
    await options.onAcknowledged(key);
  };
  const wait = async (key: ObjectKey, object: KubeObject): Promise<void> => {
    here.delete(key);
    const { uid } = object.metadata;
    if (waiting.get(key)?.uid === uid) return;
    stopWaiting(key);
    const words = await takeOver(options, key, object);
    if (words === undefined) return;
    print(words.now);
    const cancel = words.later === undefined ? () => undefined : after(late, () => print(words.later ?? ""));
    waiting.set(key, { uid, cancel });
  };
  const onEvent = async (event: ReflectorEvent): Promise<void> => {
    if (!isObjectEvent(event)) return;
    const { key, object, type } = event;
    if (type === "deleted" || object === undefined) {
      stopWaiting(key);
      if (here.delete(key))
        print(`${ref.kind} ${key} no longer runs here: it is gone, or has lost the label.`);
    } else if (placeIn(session, object) === "runs") await begin(key);
    else await wait(key, object);
  };
  const reflectors = (namespaces ?? [undefined]).map((namespace) =>
    runReflector({
      client,
      ref,
      namespace,
      labelSelector: `${sessionLabel}=${session.name}`,
      metadataOnly: false,
      log,
      signal,
      async onEvents(events) {
        // The reflector repeats the events after a failure.
        for (const event of events) await onEvent(event).catch((error: unknown) => report(log, error));
      },
    }),
  );
  signal.addEventListener("abort", () => [...waiting.keys()].forEach(stopWaiting), { once: true });
  return { isHere: (key) => here.has(key), done: Promise.all(reflectors.map(({ done }) => done)) };
}

/**
 * Marks an object that does not run yet, if it was chosen. Returns the text to print about it; undefined if it was marked: then
 * another event of it follows.
 */
async function takeOver(
  options: FollowSessionOptions,
  key: ObjectKey,
  object: KubeObject,
): Promise<{ readonly now: string; readonly later?: string } | undefined> {
  const { ref, labels, session, hasStatus } = options;
  const name = `${ref.kind} ${key}`;
  if (!labels.isChosen(object))
    return {
      now: `${name} has the label of this session, and does not run here: it was not chosen. Give it with --object.`,
    };
  // The label is on the object: a function that is deployed from now on finds it there.
  const deployed = await deployedFor(options, object);
  const functions = deployed.map((one) => one.key).join(", ");
  if (deployed.length > 0 && !hasStatus)
    return {
      now:
        `${name} does not run here: the deployed function ${functions} runs it, and cannot acknowledge that it leaves the ` +
        `object alone, since Drover does not write the status of a ${ref.kind}. Use a cluster without this function.`,
    };
  if (placeIn(session, object) === "not chosen") {
    await labels.mark(object, deployed.length === 0 ? "alone" : "beside");
    return undefined;
  }
  return {
    now: `${name} waits until the deployed function ${functions} acknowledges that it leaves the object alone.`,
    later:
      `${name} does not run here: the deployed function ${functions} has not acknowledged for ${late / 1_000} s. Possible ` +
      `reasons: ${possibleReasons(deployed).join("; ")}. \`drover why\` shows more.`,
  };
}

const possibleReasons = (deployed: readonly DeployedFor[]): readonly string[] => [
  ...deployed.filter(({ isPaused }) => isPaused).map(({ key }) => `${key} is paused (spec.paused)`),
  "none of its Pods runs",
  "its version of Drover does not look at the label",
  "the object itself is paused",
  "the CRD of the kind prunes status.conditions",
];

function report(log: Log, error: unknown): never {
  log.warn({ err: error }, `An object of the session could not be taken over: ${messageOf(error)}`);
  throw error;
}
