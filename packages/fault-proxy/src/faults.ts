import { meant } from "@drover/controller";
import { z } from "zod";
import type { Call } from "./call.ts";

/** An object that has these fields and no others; whoever writes another one is told which was meant. */
export const strict = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? issue.keys
            .map((key) => `there is no ${JSON.stringify(key)} here. ${meant(key, Object.keys(shape))}`)
            .join(" ")
        : undefined,
  });

const milliseconds = z.number().min(0);
const nothing = <Name extends string>(name: Name) => strict({ do: z.literal(name) });
const status = z.number().int().min(400).max(599);

const refuse = strict({
  do: z.literal("refuse"),
  status,
  /** The header as it is sent, in seconds; or of a `date`, so many seconds from then on. */
  retryAfter: z.union([z.string(), z.number(), strict({ date: z.number() })]).optional(),
  message: z.string().optional(),
});
const spoilList = strict({
  do: z.literal("spoil list"),
  /** `endless`: a `continue` on every page. `expired`: a 410 at the end. */
  how: z.enum(["truncated", "no metadata", "no uid", "endless", "expired"]),
  /** Of `endless`: after so many pages it comes to its first one again; 0, the default: never. */
  cycle: z.number().int().optional(),
});

const atOnce = [
  /** Answered by the proxy with a Status, and never forwarded. */
  refuse,
  /** The connection is reset before anything reaches the server. */
  nothing("reset"),
  /** Half open: it never reaches the server, and is never answered. */
  nothing("hang"),
  /** Carried out; then the connection is reset instead of an answer. */
  nothing("lose answer"),
  /** Carried out, and never answered. */
  nothing("hang after"),
  /**
   * The process behind the client dies, before the call reaches the server or between its commit and its answer. Nothing
   * of this life is forwarded or answered from then on.
   */
  strict({ do: z.literal("kill"), when: z.enum(["before", "after"]) }),
  /** Answered by another server, one of the proxy's views. */
  strict({ do: z.literal("stale"), view: z.string() }),
  /** Instead of an answer: 200, and what is no API server's. Not forwarded. */
  strict({ do: z.literal("garbage"), of: z.enum(["html", "bytes", "nothing"]) }),
  /** The server's list with something wrong in it; of a list that comes as a watch, at its end. */
  spoilList,
] as const;

/** Names the faults there are, to who writes another one. */
const unknown = (names: readonly string[]) => ({
  error: (issue: { readonly code?: string; readonly input?: unknown }) =>
    issue.code === "invalid_union" ? `${named(issue.input)} ${meant(nameIn(issue.input), names)}` : undefined,
});
const nameIn = (input: unknown): string =>
  typeof input === "object" && input !== null && "do" in input ? String(input.do) : "";
const named = (input: unknown): string =>
  nameIn(input) === ""
    ? "say in `do` what goes wrong."
    : `there is no fault ${JSON.stringify(nameIn(input))} here.`;

const namesOf = (schemas: readonly { readonly shape: { readonly do: z.ZodLiteral<string> } }[]): string[] =>
  schemas.map(({ shape }) => shape.do.value);

/** It waits, on its way to the server, and then goes on or meets the next fault. */
const delayed = strict({
  do: z.literal("delay"),
  for: milliseconds,
  then: z.discriminatedUnion("do", atOnce, unknown(namesOf(atOnce))).optional(),
});
const ofCalls = [...atOnce, delayed] as const;

/** What goes wrong with one call. */
export const callFaultSchema = z.discriminatedUnion("do", ofCalls, unknown(namesOf(ofCalls)));
export type CallFault = z.infer<typeof callFaultSchema>;
export type SpoiledList = z.infer<typeof spoilList>;
export type Refusal = z.infer<typeof refuse>;

const ofEvents = [
  /** It never comes. */
  nothing("swallow"),
  /** It comes later, and all that follows after it. */
  strict({ do: z.literal("delay"), for: milliseconds }),
  nothing("duplicate"),
  /** After it, what came before comes again, as much as is remembered. */
  nothing("replay"),
  /** Half of it, and a reset. */
  nothing("cut"),
  /** Half of it, and an orderly end. */
  nothing("truncate"),
  /** Instead of it an ERROR, 410 for one that has expired; without a code it is a Status that says nothing. Ends the watch. */
  strict({ do: z.literal("error"), code: status.optional() }),
  /** Instead of it what is no JSON, and on it goes. */
  nothing("garbage"),
  nothing("no uid"),
  /** It is 2 MiB large. */
  nothing("huge"),
  /** From it on nothing comes, and nothing ends. */
  nothing("fall silent"),
] as const;

/** What goes wrong with one event of a watch. */
export const eventFaultSchema = z.discriminatedUnion("do", ofEvents, unknown(namesOf(ofEvents)));
export type EventFault = z.infer<typeof eventFaultSchema>;

/** An event on its way to who watches. Bookmarks and errors of the server's own meet no fault. */
export interface WatchedEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** As the server sent it. */
  readonly line: string;
  /** It belongs to the list that a watch began with on demand (`sendInitialEvents`). */
  readonly isListed: boolean;
}

/** Decides what goes wrong. Asked once about every call and every event, in the order in which they pass. */
export interface FaultDecider {
  ofCall(call: Call): CallFault | undefined;
  ofEvent?(event: WatchedEvent, call: Call): EventFault | undefined;
}

export const noFaults: FaultDecider = { ofCall: () => undefined };
