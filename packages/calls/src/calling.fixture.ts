import {
  defineResource,
  unavailableClient,
  objectKey,
  queueOf,
  type ReconcileContext,
  type Resource,
  silentLog,
} from "@drover/controller";
import type { Claim, Run } from "@drover/queue";
import { type CachedSecrets, type Call, callSchema, cacheSecrets, signMessage } from "@drover/webhook";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { pendingRuns } from "./pending-runs.ts";
import type { WebhookFunction } from "./webhook-function.ts";
import { callFunction, type CallResources, type FunctionCall } from "./call-function.ts";

export const secret = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;
export const otherSecret = `whsec_${Buffer.alloc(24, 2).toString("base64")}`;

/** Secrets that are read when they are 5 seconds old. */
export const secretsFrom = (read: () => readonly string[]): CachedSecrets =>
  cacheSecrets(
    () => Promise.resolve(read()),
    () => performance.now(),
    5_000,
  );

export const Greeting = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Greeting",
  scope: "Namespaced",
  spec: z.object({ name: z.string() }),
  status: z.object({ text: z.string().optional() }),
});

export const greetings: WebhookFunction = {
  queue: queueOf({ namespace: "web", name: "greetings", uid: "f-1" }),
  controller: "greetings",
  namespace: "web",
  uid: "f-1",
  path: "/",
  finalizes: true,
  composes: false,
  owns: [],
  related: [],
  copies: false,
  copiesFor: undefined,
  isWokenByOthers: false,
  concurrency: 8,
  for: Greeting,
  service: { name: "greetings", port: 80 },
  runSettings: { resyncEvery: undefined, timeout: undefined, retry: undefined, limits: undefined },
  scalesToZero: false,
  revision: 0,
};

/** A function that a test writes out: it is handed each call, verified or not, and answers as it likes. */
export interface TestFunction {
  readonly port: number;
  readonly calls: { readonly call: Call; readonly incoming: IncomingMessage }[];
  answer: (call: Call, response: ServerResponse) => void;
  close(): Promise<void>;
}

interface AnswerOptions {
  readonly status?: number;
  readonly id?: string;
  readonly with?: readonly string[];
  /** Milliseconds by which the time of its signature is ahead of now. */
  readonly ahead?: number;
}

/** Answers every call with this body: see `reply`. */
export const answering =
  (body: unknown, options?: AnswerOptions): TestFunction["answer"] =>
  (call, response) =>
    reply(call, response, body, options);

/** Sends an answer that is signed correctly, unless the options change a part of it. */
export function reply(
  { token }: Pick<Call, "token">,
  response: ServerResponse,
  body: unknown = { outcome: "done" },
  { status = 200, id = token, with: by = [secret], ahead = 0 }: AnswerOptions = {},
): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const type = { "content-type": "application/json" };
  response.writeHead(status, { ...type, ...signMessage(by, { id, at: Date.now() + ahead }, text) }).end(text);
}

export async function startTestFunction(at = 0): Promise<TestFunction> {
  const calls: TestFunction["calls"] = [];
  const server = createServer((incoming, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
      const call = callSchema.parse(JSON.parse(Buffer.concat(chunks).toString()));
      calls.push({ call, incoming });
      fn.answer(call, response);
    })();
  });
  server.listen(at, "127.0.0.1");
  await once(server, "listening");
  const fn: TestFunction = {
    port: (server.address() as AddressInfo).port,
    calls,
    answer: (call, response) => reply(call, response),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
  return fn;
}

const claim: Claim = { fails: 2, reasons: ["Modified"], class: "change", versions: {} };

export const runOf = (more: Partial<Run> = {}): Run => ({
  key: objectKey({ namespace: "web", name: "ada" }),
  token: randomUUID(),
  claim,
  signal: new AbortController().signal,
  hasLease: () => true,
  ...more,
});

/** A run's call of the function at a port, and what it stands on. */
export function calling(port: number, more: Partial<CallResources> = {}) {
  const world = { secrets: [secret] };
  const parts: CallResources = {
    fn: greetings,
    pending: pendingRuns(),
    source: "/drover/gateway",
    now: Date.now,
    complete: "http://127.0.0.1:1/",
    secrets: secretsFrom(() => [...world.secrets]),
    target: () => Promise.resolve({ url: new URL(`http://127.0.0.1:${port}/`), address: "127.0.0.1" }),
    agent: new Agent({ keepAlive: true }),
    ...more,
  };
  const call = (run: Run = runOf(), also: Partial<FunctionCall> = {}) =>
    callFunction(parts, {
      type: "dev.drover.reconcile.v2",
      run,
      context: contextOf(run),
      deadline: Date.now() + 60_000,
      ...also,
    });
  return { world, parts, call };
}

export function contextOf({ key, signal }: Run): ReconcileContext<Resource> {
  const metadata = {
    name: "ada",
    namespace: "web",
    uid: "o-1",
    resourceVersion: "7",
    generation: 3,
    managedFields: [{ manager: "kubectl" }],
    annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}", note: "kept" },
  };
  const object = { apiVersion: "example.com/v1", kind: "Greeting", metadata, spec: { name: "Ada" } };
  return {
    key,
    metadata,
    spec: { name: "Ada" },
    status: {},
    object,
    log: silentLog,
    now: () => new Date(),
    signal,
    client: unavailableClient(() => new Error("This test has no cluster.")),
    guard: { beforeWrite: () => {} },
    announce: () => undefined,
    readSecret: () => Promise.resolve(undefined),
  };
}
