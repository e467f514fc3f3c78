import type { Milliseconds } from "@drover/controller";
import type { Call } from "./call.ts";

/** What goes wrong with one call. */
export type CallFault =
  /** Answered by the proxy with a Status, and never forwarded. */
  | {
      readonly do: "refuse";
      readonly status: number;
      /** The header as it is sent, in seconds; or of a `date`, so many seconds from then on. */
      readonly retryAfter?: RetryAfter | undefined;
      readonly message?: string | undefined;
    }
  /** It waits, on its way to the server, and then goes on or meets the next fault. */
  | { readonly do: "delay"; readonly for: Milliseconds; readonly then?: CallFault | undefined }
  /** The connection is reset before anything reaches the server. */
  | { readonly do: "reset" }
  /** Half open: it never reaches the server, and is never answered. */
  | { readonly do: "hang" }
  /** Carried out; then the connection is reset instead of an answer. */
  | { readonly do: "lose answer" }
  /** Carried out, and never answered. */
  | { readonly do: "hang after" }
  /**
   * The process behind the client dies, before the call reaches the server or between its commit and its answer. Nothing
   * of this life is forwarded or answered from then on.
   */
  | { readonly do: "kill"; readonly when: "before" | "after" }
  /** Answered by another server, one of the proxy's views. */
  | { readonly do: "stale"; readonly view: string }
  /** Instead of an answer: 200, and what is no API server's. Not forwarded. */
  | { readonly do: "garbage"; readonly of: "html" | "bytes" | "nothing" }
  /** The server's list with something wrong in it; of a list that comes as a watch, at its end. */
  | SpoiledList;

export type RetryAfter = string | number | { readonly date: number };

export interface SpoiledList {
  readonly do: "spoil list";
  /** `endless`: a `continue` on every page. `expired`: a 410 at the end. */
  readonly how: "truncated" | "no metadata" | "no uid" | "endless" | "expired";
  /** Of `endless`: after so many pages it comes to its first one again; 0, the default: never. */
  readonly cycle?: number | undefined;
}

/** What goes wrong with one event of a watch. */
export type EventFault =
  /** It never comes. */
  | { readonly do: "swallow" }
  /** It comes later, and all that follows after it. */
  | { readonly do: "delay"; readonly for: Milliseconds }
  | { readonly do: "duplicate" }
  /** After it, what came before comes again, as much as is remembered. */
  | { readonly do: "replay" }
  /** Half of it, and a reset. */
  | { readonly do: "cut" }
  /** Half of it, and an orderly end. */
  | { readonly do: "truncate" }
  /** Instead of it an ERROR, 410 for one that has expired; without a code it is a Status that says nothing. Ends the watch. */
  | { readonly do: "error"; readonly code?: number | undefined }
  /** Instead of it what is no JSON, and on it goes. */
  | { readonly do: "garbage" }
  | { readonly do: "no uid" }
  /** It is 2 MiB large. */
  | { readonly do: "huge" }
  /** From it on nothing comes, and nothing ends. */
  | { readonly do: "fall silent" };

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
