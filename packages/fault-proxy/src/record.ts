import type { Milliseconds } from "@drover/controller";
import { z } from "zod";
import type { Call } from "./call.ts";
import type { CallFault, EventFault, WatchedEvent } from "./faults.ts";

/** One call, and what came of it so far. */
export interface Entry {
  /** When it came, by the wall clock. */
  readonly at: Milliseconds;
  readonly call: Call;
  readonly fault?: CallFault;
  /** The events of a watch that met a fault. */
  readonly events: readonly EventEntry[];
  /** What the server said; absent while it was not asked, or has not answered. */
  readonly server?: ServerAnswer;
  /**
   * What the client was told: a status (where nothing went wrong the server's), or nothing; `gone` is who did not wait for
   * it. Absent while it waits.
   */
  readonly client?: number | "reset" | "hung" | "gone";
  /** The header by which a refusal of the proxy's asks to be left alone. */
  readonly retryAfter?: string;
  /** Whether a write has changed the server; absent while nobody knows, and for what is no write. */
  readonly committed?: boolean;
  /** What went wrong that nobody had asked for: the server could not be reached. */
  readonly problem?: string;
}

export interface EventEntry {
  readonly type: WatchedEvent["type"];
  readonly object: AnsweredObject | undefined;
  readonly fault: EventFault;
}

export interface ServerAnswer {
  readonly status: number;
  /** Of a write or a get whose answer is one object. */
  readonly object?: AnsweredObject;
}

export interface AnsweredObject {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

const text = z.string().default("");
const objectSchema = z
  .object({
    kind: z.string().refine((kind) => kind !== "Status"),
    metadata: z.object({ namespace: text, name: z.string(), uid: text, resourceVersion: text }),
  })
  .transform(({ kind, metadata }): AnsweredObject => ({ kind, ...metadata }));

/** The object that a JSON text is; undefined where it is none. */
export function answeredObject(json: string): AnsweredObject | undefined {
  try {
    return objectSchema.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}

const eventSchema = z.object({ object: objectSchema });

/** The object that a line of a watch is about. */
export const eventObject = (line: string): AnsweredObject | undefined =>
  eventSchema.safeParse(JSON.parse(line)).data?.object;

export const eventEntry = ({ type, line }: WatchedEvent, fault: EventFault): EventEntry => ({
  type,
  object: eventObject(line),
  fault,
});
