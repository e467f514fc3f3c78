import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { DirectApi } from "./direct-api.ts";
import type { Observation, ObservedVersion, Version } from "./oracle/facts.ts";
import type { EventLog } from "../harness/event-log.ts";
import { type Kind, keyOf, type Widget, widgetListSchema, widgetSchema } from "./kind.ts";

/** Records every committed change of a kind, over a watch of its own without faults. */
export interface ChangeRecorder {
  /** The present objects, by the events so far; a key without an entry is gone, or never was. */
  readonly view: ReadonlyMap<string, Exclude<ObservedVersion, "gone">>;
  /** Rejects if the recorder could not go on; then nothing is proved. */
  close(): Promise<void>;
}

const frameSchema = z.discriminatedUnion("type", [
  z.object({ type: z.enum(["ADDED", "MODIFIED", "DELETED"]), object: widgetSchema }),
  z.object({ type: z.literal("ERROR"), object: z.looseObject({}) }),
]);

/** Starts with a kind that has no object. Notes each change in the log. */
export async function startChangeRecorder(
  api: DirectApi,
  kind: Kind,
  log: EventLog<Observation>,
): Promise<ChangeRecorder> {
  const first = widgetListSchema.parse(await api.demand("GET", kind.path));
  if (first.items.length > 0) throw new Error(`${kind.path} holds objects of an earlier schedule.`);
  const closing = new AbortController();
  const view = new Map<string, Exclude<ObservedVersion, "gone">>();
  const matters = new Map<string, string>();
  let at: Version = first.metadata.resourceVersion;

  const see = (line: string): void => {
    const frame = frameSchema.parse(JSON.parse(line));
    if (frame.type === "ERROR") throw new Error(`The watch of the recorder got ${line}`);
    const { object, type } = frame;
    const key = keyOf(object);
    const seen = { uid: object.metadata.uid, version: object.metadata.resourceVersion };
    at = seen.version;
    const before = matters.get(key);
    if (type === "DELETED") {
      view.delete(key);
      matters.delete(key);
    } else {
      view.set(key, seen);
      matters.set(key, whatMatters(object));
    }
    const now = type === "DELETED" ? "gone" : seen;
    const { namespace } = object.metadata;
    const refers =
      now === "gone" || object.spec.ref === undefined ? undefined : `${namespace}/${object.spec.ref}`;
    log.note({ fact: "changed", key, version: at, matters: before !== matters.get(key), now, refers });
  };
  const isClosing = (): boolean => closing.signal.aborted;
  const watch = async (): Promise<void> => {
    while (!isClosing()) {
      const path = `${kind.path}?watch=true&resourceVersion=${at}&timeoutSeconds=600`;
      try {
        for await (const line of api.lines(path, closing.signal)) see(line);
      } catch (error) {
        if (isClosing()) return;
        // The server may be busy for a moment; if its history no longer has `at`, an event says so.
        if (!(error instanceof Error && "code" in error)) throw error;
      }
      await delay(50, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };
  const watching = watch();
  watching.catch(() => undefined);
  return {
    view,
    async close() {
      closing.abort();
      await watching;
    },
  };
}

/** What a controller must look at again when it is another one. */
function whatMatters({ metadata }: Widget): string {
  const { uid, generation, labels = {}, annotations = {}, finalizers = [], deletionTimestamp } = metadata;
  const sorted = (map: Record<string, string>): unknown => Object.entries(map).sort();
  return JSON.stringify([
    uid,
    generation,
    sorted(labels),
    sorted(annotations),
    finalizers,
    deletionTimestamp ?? "",
  ]);
}
