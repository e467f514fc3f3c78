import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { DirectApi } from "./direct-api.ts";
import type { Happening, Sight, Version } from "./oracle/facts.ts";
import type { EventLog } from "../harness/event-log.ts";
import { type Kind, keyOf, type Widget, widgetListSchema, widgetSchema } from "./kind.ts";

/** Sees every committed change of a kind, over a watch of its own that nothing disturbs. */
export interface Witness {
  /** What there is, as far as it was told; a key that is not there is gone, or never was. */
  readonly view: ReadonlyMap<string, Exclude<Sight, "gone">>;
  /** Rejects when the witness could not go on; then it proves nothing. */
  close(): Promise<void>;
}

const frameSchema = z.discriminatedUnion("type", [
  z.object({ type: z.enum(["ADDED", "MODIFIED", "DELETED"]), object: widgetSchema }),
  z.object({ type: z.literal("ERROR"), object: z.looseObject({}) }),
]);

/** Starts from a kind of which there is no object. Notes each change in the journal. */
export async function startWitness(
  api: DirectApi,
  kind: Kind,
  journal: EventLog<Happening>,
): Promise<Witness> {
  const first = widgetListSchema.parse(await api.demand("GET", kind.path));
  if (first.items.length > 0) throw new Error(`${kind.path} holds objects of an earlier schedule.`);
  const closing = new AbortController();
  const view = new Map<string, Exclude<Sight, "gone">>();
  const matters = new Map<string, string>();
  let at: Version = first.metadata.resourceVersion;

  const see = (line: string): void => {
    const frame = frameSchema.parse(JSON.parse(line));
    if (frame.type === "ERROR") throw new Error(`The witness was told ${line}`);
    const { object, type } = frame;
    const key = keyOf(object);
    const sight = { uid: object.metadata.uid, version: object.metadata.resourceVersion };
    at = sight.version;
    const before = matters.get(key);
    if (type === "DELETED") {
      view.delete(key);
      matters.delete(key);
    } else {
      view.set(key, sight);
      matters.set(key, whatMatters(object));
    }
    const now = type === "DELETED" ? "gone" : sight;
    const { namespace } = object.metadata;
    const refers =
      now === "gone" || object.spec.ref === undefined ? undefined : `${namespace}/${object.spec.ref}`;
    journal.note({ fact: "changed", key, version: at, matters: before !== matters.get(key), now, refers });
  };
  const isClosing = (): boolean => closing.signal.aborted;
  const watch = async (): Promise<void> => {
    while (!isClosing()) {
      const path = `${kind.path}?watch=true&resourceVersion=${at}&timeoutSeconds=600`;
      try {
        for await (const line of api.lines(path, closing.signal)) see(line);
      } catch (error) {
        if (isClosing()) return;
        // The server may be busy for a moment; that it has forgotten what came after `at` is told in a line.
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
