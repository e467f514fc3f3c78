import type { Milliseconds } from "@drover/controller";
import { z } from "zod";
import type { ProxiedCall } from "./proxied-call.ts";
import type { CallFault, EventFault, WatchedEvent } from "../plan/faults.ts";

/** One call, and its results so far. */
export interface CallRecord {
  /** Time of its arrival, by the wall clock. */
  readonly at: Milliseconds;
  readonly call: ProxiedCall;
  readonly fault?: CallFault;
  /** The events of a watch that met a fault. */
  readonly events: readonly EventRecord[];
  /** The server's answer; absent while the server was not asked, or has not answered. */
  readonly server?: ServerResult;
  /**
   * The client's result: a status (the server's, unless a fault replaced it), `reset`, `hung` without an answer, or `gone` if
   * the client did not wait for it. Absent while it waits.
   */
  readonly client?: number | "reset" | "hung" | "gone";
  /** The Retry-After header of a refusal by the proxy. */
  readonly retryAfter?: string;
  /** True if a write has changed the server; absent while that is not known, and for calls other than writes. */
  readonly committed?: boolean;
  /** An error that is not part of the plan, such as a server that cannot be reached. */
  readonly problem?: string;
}

export interface EventRecord {
  readonly type: WatchedEvent["type"];
  readonly object: ResponseObject | undefined;
  readonly fault: EventFault;
}

export interface ServerResult {
  readonly status: number;
  /** For a write or a get with one object as its answer. */
  readonly object?: ResponseObject;
}

const text = z.string().default("");
const objectSchema = z
  .object({
    kind: z.string().refine((kind) => kind !== "Status"),
    metadata: z.object({ namespace: text, name: z.string(), uid: text, resourceVersion: text }),
  })
  .transform(({ kind, metadata }) => ({ kind, ...metadata }));
export type ResponseObject = Readonly<z.output<typeof objectSchema>>;

/** The object in a JSON text; undefined if the text is not an object. */
export function parseResponseObject(json: string): ResponseObject | undefined {
  try {
    return objectSchema.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}

const eventSchema = z.object({ object: objectSchema });

/** The object in a line of a watch. */
export const parseEventObject = (line: string): ResponseObject | undefined =>
  eventSchema.safeParse(JSON.parse(line)).data?.object;

export const eventRecord = ({ type, line }: WatchedEvent, fault: EventFault): EventRecord => ({
  type,
  object: parseEventObject(line),
  fault,
});
