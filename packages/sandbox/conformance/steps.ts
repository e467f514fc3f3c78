// What a case is: requests as data, so that two servers can be asked the very same.
import type { Json, JsonObject } from "../src/json.ts";

/**
 * One request. In its path, headers and body `<name.path.to.value>` stands for what the answer called `name` had
 * there, `<ns>` for the case's own namespace and `<id>` for a word that is the case's own.
 */
export interface Step {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body?: Json;
  /** The body as it is sent, where it is to be no JSON of ours. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How later steps call its answer. */
  readonly as?: string;
  /** The answer is read as lines, until one is about an object of this name, or the server ends it. */
  readonly until?: string;
  /** Asked again until it answers so; what it answered is not compared. */
  readonly awaiting?: number;
  /** What is in such an answer, as JSON without spaces, its keys in order. */
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
export const watch = (path: string, until: string): Step => ({ method: "GET", path, until });
export const named = (as: string, step: Step): Step => ({ ...step, as });
export const awaited = (path: string, awaiting = 200): Step => ({ method: "GET", path, awaiting });
/** Asks again until the answer has this in it, as JSON without spaces, its keys in order. */
export const saying = (path: string, text: string): Step => ({ ...awaited(path), saying: text });
/** A case that is one request. */
export const one = (name: string, ...steps: readonly Step[]): Case => ({ name, steps });

/** An object of a kind, to be changed a little. */
export const object = (
  apiVersion: string,
  kind: string,
  name: string,
  more: JsonObject = {},
  metadata: JsonObject = {},
): JsonObject => ({ apiVersion, kind, metadata: { name, ...metadata }, ...more });
