// What the tests talk to a sandbox with: plain HTTP, as any client would.
import { afterAll, expect } from "vitest";
import { isObject, objectAt, parseJson, textAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { startSandbox } from "../sandbox.ts";
import type { Sandbox, SandboxOptions } from "../sandbox.ts";

export interface Reply {
  readonly code: number;
  readonly body: JsonObject;
  readonly headers: Headers;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: JsonObject;
}

/** The events of one watch, in order. */
export interface OpenWatch {
  /** The next event. Rejects when the watch ended, or the connection broke, before one came. */
  next(): Promise<WatchEvent>;
  /** The next events up to and including the first that `last` accepts. */
  until(last: (event: WatchEvent) => boolean): Promise<WatchEvent[]>;
  stop(): void;
}

/** Requests to one address of a sandbox. */
export interface Requests {
  /** A request to a path, with the token. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The answer to a GET as text: all events of a watch that ends by itself. */
  text(path: string): Promise<string>;
  call(method: string, path: string, body?: Json, headers?: Record<string, string>): Promise<Reply>;
  /** The same with a body that is no JSON. */
  send(method: string, path: string, text: string, headers: Record<string, string>): Promise<Reply>;
  /** A merge patch. */
  patch(path: string, body: Json): Promise<Reply>;
  watch(path: string): Promise<OpenWatch>;
}

export type Client = Sandbox & Requests;

async function* lines(body: AsyncIterable<Uint8Array>): AsyncGenerator<WatchEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const event = parseJson(part);
      yield { type: textAt(event, "type") ?? "", object: objectAt(event, "object") };
    }
  }
}

async function openWatch(fetchPath: Requests["fetch"], path: string): Promise<OpenWatch> {
  const abort = new AbortController();
  const response = await fetchPath(path, { signal: abort.signal });
  if (!response.ok || !response.body)
    throw new Error(`the watch was refused: ${response.status} ${await response.text()}`);
  // Reading begins now: fetch cancels an unread body once its Response is collected.
  const events = lines(response.body.values());
  const next = async (): Promise<WatchEvent> => {
    const result = await events.next();
    if (result.done === true) throw new Error("the watch has ended");
    return result.value;
  };
  return {
    next,
    async until(last) {
      const seen: WatchEvent[] = [];
      do seen.push(await next());
      while (!seen.slice(-1).every(last));
      return seen;
    },
    stop: () => abort.abort(),
  };
}

/** Sends requests with the token. */
export function requestsTo(url: string, token: string): Requests {
  const fetchPath: Requests["fetch"] = (path, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${token}`);
    return fetch(url + path, { ...init, headers });
  };
  const call: Requests["call"] = (method, path, body, headers = {}) =>
    body === undefined
      ? reply(path, { method, headers })
      : send(method, path, JSON.stringify(body), { "content-type": "application/json", ...headers });
  const send: Requests["send"] = (method, path, body, headers) => reply(path, { method, headers, body });
  const reply = async (path: string, request: RequestInit): Promise<Reply> => {
    const response = await fetchPath(path, request);
    const json = parseJson(await response.text());
    return { code: response.status, body: isObject(json) ? json : {}, headers: response.headers };
  };
  return {
    call,
    send,
    fetch: fetchPath,
    text: async (path) => (await fetchPath(path)).text(),
    patch: (path, body) => call("PATCH", path, body, { "content-type": "application/merge-patch+json" }),
    watch: (path) => openWatch(fetchPath, `${path}${path.includes("?") ? "&" : "?"}watch=true`),
  };
}

/** A sandbox with a client in front, for the tests of a file; it ends with the file. */
export async function clientOfFile(options?: SandboxOptions): Promise<Client> {
  const client = await startClient(options);
  afterAll(() => client.close());
  return client;
}

/** Starts a sandbox with a client in front. */
export async function startClient(options: SandboxOptions = {}): Promise<Client> {
  const sandbox = await startSandbox(options);
  return {
    ...sandbox,
    get resourceVersion() {
      return sandbox.resourceVersion;
    },
    ...requestsTo(sandbox.url, sandbox.token),
  };
}

export const configMaps = "/api/v1/namespaces/default/configmaps";
export const widgets = "/apis/example.com/v1/namespaces/default/widgets";

export const configMap = (name: string, more: JsonObject = {}, labels: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, labels },
  ...more,
});

export const widget = (
  name: string,
  spec: JsonObject = { size: 1 },
  metadata: JsonObject = {},
): JsonObject => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name, ...metadata },
  spec,
});

const condition = {
  type: "object",
  properties: { type: { type: "string" }, status: { type: "string" }, message: { type: "string" } },
};

/** The schema of the Widgets below. */
const widgetSchema: JsonObject = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "integer", minimum: 1, maximum: 100 },
        colour: { type: "string", enum: ["red", "blue"], default: "red" },
        tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
        limits: { type: "object", additionalProperties: { type: "integer" } },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
    },
    status: {
      type: "object",
      properties: { seen: { type: "integer" }, conditions: { type: "array", items: condition } },
    },
  },
};

/** A definition of namespaced Widgets in example.com/v1. */
export const widgetDefinition = (version: JsonObject = {}): JsonObject => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget", shortNames: ["wd"], categories: ["all"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: "Size", type: "integer", jsonPath: ".spec.size" },
          { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
        ],
        schema: { openAPIV3Schema: widgetSchema },
        ...version,
      },
    ],
  },
});

export const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

// vitest types its matchers as any.
export const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
export const containing = (text: string): unknown => expect.stringContaining(text);
export const anyText: unknown = expect.any(String);
