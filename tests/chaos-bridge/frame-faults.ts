import { z } from "zod";
import type { EndOfStream, FrameFaultKind } from "./schedule.ts";
import { garbage, statusObject } from "./wrong-answers.ts";

/** What is sent to the bridge for one line of the API server's watch, and what becomes of the watch after it. */
export interface Passing {
  readonly lines: readonly string[];
  /** Sent without an end of line. */
  readonly rest?: string;
  readonly then: "go on" | "end" | "reset" | "fall silent";
}

/** What came before, to be sent once more by a replay: the last lines, the newest at the end. */
const longestHistory = 20;

export interface FrameFaults {
  /** The line as it is sent on; `fault` asks which fault meets an event. */
  pass(line: string, fault: () => FrameFaultKind | undefined): Passing;
}

export function frameFaults(): FrameFaults {
  const history: string[] = [];
  return {
    pass(line, fault) {
      const isEvent = /^\{"type":"(ADDED|MODIFIED|DELETED)"/.test(line);
      const kind = isEvent ? fault() : undefined;
      const passing = kind === undefined ? onwards([line]) : broken(kind, line, history);
      if (isEvent) history.push(line);
      if (history.length > longestHistory) history.shift();
      return passing;
    },
  };
}

const onwards = (lines: readonly string[]): Passing => ({ lines, then: "go on" });
const last = (line: object): Passing => ({ lines: [JSON.stringify(line)], then: "end" });

function broken(kind: FrameFaultKind, line: string, history: readonly string[]): Passing {
  const half = line.slice(0, line.length >> 1);
  switch (kind) {
    case "frame-410":
      return last({ type: "ERROR", object: statusObject(410) });
    case "frame-error-500":
      return last({ type: "ERROR", object: statusObject(500) });
    case "frame-error-no-code":
      return last({ type: "ERROR", object: { kind: "Status", apiVersion: "v1", status: "Failure" } });
    case "frame-cut":
      return { lines: [], rest: half, then: "reset" };
    case "frame-truncated":
      return { lines: [], rest: half, then: "end" };
    case "frame-garbage":
      return onwards([garbage]);
    case "frame-no-uid":
      return onwards([withMetadata(line, (metadata) => ({ ...metadata, uid: undefined }))]);
    case "frame-huge":
      return onwards([withMetadata(line, (metadata) => ({ ...metadata, managedFields: [large] }))]);
    case "frame-repeat":
      return onwards([line, line]);
    case "frame-replay":
      return onwards([line, ...history, line]);
    case "frame-silent":
      return { lines: [], then: "fall silent" };
    case "frame-swallow":
      return onwards([]);
  }
}

/** A list that comes as a stream ends with such a bookmark. */
export const isEndOfList = (line: string): boolean =>
  line.startsWith('{"type":"BOOKMARK"') && line.includes("k8s.io/initial-events-end");

/** What is sent in place of the end of a streamed list. */
export function wrongEnd(kind: EndOfStream, line: string): Passing {
  switch (kind) {
    case "list-410":
      return broken("frame-410", line, []);
    case "list-truncated":
      return broken("frame-truncated", line, []);
    case "list-no-metadata":
      return onwards([JSON.stringify({ type: "BOOKMARK", object: {} })]);
    case "list-no-uid":
      return onwards([JSON.stringify({ type: "ADDED", object: { metadata: {} } }), line]);
    // As of a server that knows no such lists: a bookmark, and no end.
    case "list-endless":
      return onwards([withMetadata(line, (metadata) => ({ ...metadata, annotations: undefined }))]);
  }
}

const large = { manager: "chaos", operation: "Update", fieldsV1: { "f:spec": "x".repeat(2 ** 21) } };

const frameSchema = z.looseObject({ object: z.looseObject({ metadata: z.looseObject({}) }) });

function withMetadata(line: string, change: (metadata: Readonly<Record<string, unknown>>) => object): string {
  const frame = frameSchema.parse(JSON.parse(line));
  const { object } = frame;
  return JSON.stringify({ ...frame, object: { ...object, metadata: change(object.metadata) } });
}
