import { suggest } from "@drover/controller";
import { z } from "zod";
import type { ProxiedCall } from "../calls/proxied-call.ts";

/** An object that has these fields and no others. The error for another field suggests the most similar one. */
export const strict = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? issue.keys
            .map((key) => `there is no ${JSON.stringify(key)} here. ${suggest(key, Object.keys(shape))}`)
            .join(" ")
        : undefined,
  });

const milliseconds = z.number().min(0);
const nothing = <Name extends string>(name: Name) => strict({ do: z.literal(name) });
const status = z.number().int().min(400).max(599);

const refuse = strict({
  do: z.literal("refuse"),
  status,
  /** The header as it is sent, in seconds; or with `date`, the time this many seconds from then on. */
  retryAfter: z.union([z.string(), z.number(), strict({ date: z.number() })]).optional(),
  message: z.string().optional(),
});
const spoilList = strict({
  do: z.literal("spoil list"),
  /**
   * `endless`: a `continue` on every page. `expired`: a 410 instead of the page, or instead of a streamed list's end.
   */
  how: z.enum(["truncated", "no metadata", "no uid", "endless", "expired"]),
  /** For `endless`: after this many pages the tokens of `continue` repeat; 0, the default: never. */
  cycle: z.number().int().optional(),
});

const atOnce = [
  /** Answered by the proxy with a Status, and never forwarded. */
  refuse,
  /** The connection is reset before anything reaches the server. */
  nothing("reset"),
  /** Half open: the call never reaches the server, and is never answered. */
  nothing("hang"),
  /** Carried out; then the connection is reset instead of an answer. */
  nothing("lose answer"),
  /** Carried out, and never answered. */
  nothing("hang after"),
  /** Carried out twice; the client gets the second answer. */
  nothing("repeat"),
  /**
   * The client process dies, before the call reaches the server or between its commit and its answer. Nothing of this
   * process is forwarded or answered from then on.
   */
  strict({ do: z.literal("kill"), when: z.enum(["before", "after"]) }),
  /** Answered by another server, one of the proxy's views. */
  strict({ do: z.literal("stale"), view: z.string() }),
  /** Instead of an answer: 200, and a body that no API server sends. Not forwarded. */
  strict({ do: z.literal("garbage"), of: z.enum(["html", "bytes", "nothing"]) }),
  /** The server's list with an error in it; for a list that is sent as a watch, at its end. */
  spoilList,
] as const;

/** The error for an unknown fault, which suggests the most similar one. */
const unknown = (names: readonly string[]) => ({
  error: (issue: { readonly code?: string; readonly input?: unknown }) =>
    issue.code === "invalid_union"
      ? `${named(issue.input)} ${suggest(nameIn(issue.input), names)}`
      : undefined,
});
const nameIn = (input: unknown): string =>
  typeof input === "object" && input !== null && "do" in input ? String(input.do) : "";
const named = (input: unknown): string =>
  nameIn(input) === ""
    ? "name the fault in `do`."
    : `there is no fault ${JSON.stringify(nameIn(input))} here.`;

const namesOf = (schemas: readonly { readonly shape: { readonly do: z.ZodLiteral<string> } }[]): string[] =>
  schemas.map(({ shape }) => shape.do.value);

/** The call waits on its way to the server, and then goes on or meets the next fault. */
const delayed = strict({
  do: z.literal("delay"),
  for: milliseconds,
  then: z.discriminatedUnion("do", atOnce, unknown(namesOf(atOnce))).optional(),
});
const ofCalls = [...atOnce, delayed] as const;

/** A fault of one call. */
export const callFaultSchema = z.discriminatedUnion("do", ofCalls, unknown(namesOf(ofCalls)));
export type CallFault = z.infer<typeof callFaultSchema>;
export type SpoiledList = z.infer<typeof spoilList>;
export type RefuseFault = z.infer<typeof refuse>;

const ofEvents = [
  /** The event is never sent. */
  nothing("swallow"),
  /** The event is sent later, and so are all that follow it. */
  strict({ do: z.literal("delay"), for: milliseconds }),
  nothing("duplicate"),
  /** After the event, the previous ones that are remembered are sent again, and then the event itself. */
  nothing("replay"),
  /** Half of the event, and a reset. */
  nothing("cut"),
  /** Half of the event, and an orderly end. */
  nothing("truncate"),
  /**
   * Instead of the event an ERROR, such as 410 for an expired version; without a code it has a Status with no details.
   * Ends the watch.
   */
  strict({ do: z.literal("error"), code: status.optional() }),
  /** Instead of the event a line that is not JSON. The watch goes on. */
  nothing("garbage"),
  nothing("no uid"),
  /** The event is 2 MiB large. */
  nothing("huge"),
  /** From this event on nothing is sent, and the watch does not end. */
  nothing("fall silent"),
] as const;

/** A fault of one event of a watch. */
export const eventFaultSchema = z.discriminatedUnion("do", ofEvents, unknown(namesOf(ofEvents)));
export type EventFault = z.infer<typeof eventFaultSchema>;

/** An event on its way to the watching client. Bookmarks and errors of the server's own meet no fault. */
export interface WatchedEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** As the server sent it. */
  readonly line: string;
  /** True if it belongs to the list that a watch began with on demand (`sendInitialEvents`). */
  readonly isListed: boolean;
}

/** Chooses the faults. Called once for every call and every event, in the order in which they pass. */
export interface FaultDecider {
  ofCall(call: ProxiedCall): CallFault | undefined;
  ofEvent?(event: WatchedEvent, call: ProxiedCall): EventFault | undefined;
}

export const noFaults: FaultDecider = { ofCall: () => undefined };
