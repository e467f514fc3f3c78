import { parseJson, writeJson } from "@drover/json";
import { z } from "zod";
import type { EventFault, SpoiledList, WatchedEvent } from "../plan/faults.ts";
import { garbage, statusObject } from "./wrong-responses.ts";

/** The lines to send for one line of the server's watch, and how the watch continues after them. */
export interface PassedLines {
  readonly lines: readonly string[];
  /** Sent after them, without a line end. */
  readonly rest?: string;
  readonly then: "go on" | "end" | "reset" | "fall silent";
}

/** A replay sends this many previous lines again, the newest last. */
const longestHistory = 20;

export interface BrokenEvents {
  /** Returns what to send for a line of the server, changed by the fault if there is one. */
  pass(line: string, fault: EventFault | undefined): PassedLines;
}

export function brokenEvents(): BrokenEvents {
  const history: string[] = [];
  return {
    pass(line, fault) {
      const passing = fault === undefined ? passOn([line]) : broken(fault, line, history);
      if (typeOfEvent(line) !== undefined) history.push(line);
      if (history.length > longestHistory) history.shift();
      return passing;
    },
  };
}

/** The type of an event; undefined for bookmarks, errors, and lines that are not events. */
export function typeOfEvent(line: string): WatchedEvent["type"] | undefined {
  const type = /^\{"type":"(ADDED|MODIFIED|DELETED)"/.exec(line)?.[1];
  return type === "ADDED" || type === "MODIFIED" || type === "DELETED" ? type : undefined;
}

const passOn = (lines: readonly string[]): PassedLines => ({ lines, then: "go on" });
const last = (line: object): PassedLines => ({ lines: [JSON.stringify(line)], then: "end" });

function broken(fault: EventFault, line: string, history: readonly string[]): PassedLines {
  const half = line.slice(0, line.length >> 1);
  switch (fault.do) {
    case "error":
      return last({ type: "ERROR", object: errorObject(fault.code) });
    case "cut":
      return { lines: [], rest: half, then: "reset" };
    case "truncate":
      return { lines: [], rest: half, then: "end" };
    case "garbage":
      return passOn([garbage]);
    case "no uid":
      return passOn([withMetadata(line, (metadata) => ({ ...metadata, uid: undefined }))]);
    case "huge":
      return passOn([withMetadata(line, (metadata) => ({ ...metadata, managedFields: [large] }))]);
    case "duplicate":
      return passOn([line, line]);
    case "replay":
      return passOn([line, ...history, line]);
    case "fall silent":
      return { lines: [], then: "fall silent" };
    case "swallow":
      return passOn([]);
    // The caller has already waited.
    case "delay":
      return passOn([line]);
  }
}

const errorObject = (code: number | undefined): object =>
  code === undefined ? { kind: "Status", apiVersion: "v1", status: "Failure" } : statusObject(code);

/** True for the bookmark that ends a list that is sent as a stream. */
export const isEndOfList = (line: string): boolean =>
  line.startsWith('{"type":"BOOKMARK"') && line.includes("k8s.io/initial-events-end");

/** The lines to send in place of the end of a streamed list. */
export function wrongEnd(how: SpoiledList["how"], line: string): PassedLines {
  switch (how) {
    case "expired":
      return broken({ do: "error", code: 410 }, line, []);
    case "truncated":
      return broken({ do: "truncate" }, line, []);
    case "no metadata":
      return passOn([JSON.stringify({ type: "BOOKMARK", object: {} })]);
    case "no uid":
      return passOn([JSON.stringify({ type: "ADDED", object: { metadata: {} } }), line]);
    // As from a server without streamed lists: a bookmark that does not mark the end.
    case "endless":
      return passOn([withMetadata(line, (metadata) => ({ ...metadata, annotations: undefined }))]);
  }
}

const large = { manager: "chaos", operation: "Update", fieldsV1: { "f:spec": "x".repeat(2 ** 21) } };

const frameSchema = z.looseObject({ object: z.looseObject({ metadata: z.looseObject({}) }) });

function withMetadata(line: string, change: (metadata: Readonly<Record<string, unknown>>) => object): string {
  const frame = frameSchema.parse(parseJson(line));
  const { object } = frame;
  return writeJson({ ...frame, object: { ...object, metadata: change(object.metadata) } });
}
