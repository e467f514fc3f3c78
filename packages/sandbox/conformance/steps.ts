// A case: requests as data, so that both servers get exactly the same.
import type { Json, JsonObject } from "../src/json.ts";

/**
 * One request. In its path, headers and body, `<name.path.to.value>` is the value at that path in the answer called
 * `name`, `<ns>` is the namespace of the case, and `<id>` is a word for this case only.
 */
export interface Step {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body?: Json;
  /** The text of the body, for bodies that are not made from a value. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The name of its answer in later steps. */
  readonly as?: string;
  /** If set, the answer is read as lines, until one is about an object of this name or the server ends it. */
  readonly until?: string;
  /** If set, the request is repeated until it is answered with this code. The answers are not compared. */
  readonly awaiting?: number;
  /** A part of that answer, as JSON without spaces and with sorted keys. */
  readonly saying?: string;
}

export interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
}

export const json = (body: Json | undefined): Pick<Step, "body"> => (body === undefined ? {} : { body });
export const get = (path: string, headers: Record<string, string> = {}): Step => ({
  method: "GET",
  path,
  headers,
});
export const post = (path: string, body: Json): Step => ({ method: "POST", path, body });
export const put = (path: string, body: Json): Step => ({ method: "PUT", path, body });
export const del = (path: string, body?: Json): Step => ({ method: "DELETE", path, ...json(body) });
export const patch = (path: string, body: Json, kind = "merge-patch"): Step => ({
  method: "PATCH",
  path,
  body,
  headers: { "content-type": `application/${kind}+json` },
});
/** A server-side apply by a manager; `query` has further parameters. */
export const apply = (path: string, body: Json, manager: string, query = ""): Step => ({
  method: "PATCH",
  path: `${path}?fieldManager=${manager}${query === "" ? "" : `&${query}`}`,
  body,
  headers: { "content-type": "application/apply-patch+yaml" },
});
export const watch = (path: string, until: string): Step => ({ method: "GET", path, until });
export const named = (as: string, step: Step): Step => ({ ...step, as });
export const awaited = (path: string, awaiting = 200): Step => ({ method: "GET", path, awaiting });
/** Repeats a GET until the answer contains this text, as JSON without spaces and with sorted keys. */
export const saying = (path: string, text: string): Step => ({ ...awaited(path), saying: text });
export const caseOf = (name: string, ...steps: readonly Step[]): Case => ({ name, steps });

/** An object of a kind. */
export const object = (
  apiVersion: string,
  kind: string,
  name: string,
  more: JsonObject = {},
  metadata: JsonObject = {},
): JsonObject => ({ apiVersion, kind, metadata: { name, ...metadata }, ...more });

export const deleteOptions = (more: JsonObject = {}): JsonObject => ({
  kind: "DeleteOptions",
  apiVersion: "v1",
  ...more,
});
