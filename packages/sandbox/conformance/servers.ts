// The two servers, with one function for requests.
import { request as requestPlain } from "node:http";
import type { IncomingMessage, RequestOptions } from "node:http";
import { Agent as PlainAgent } from "node:http";
import { Agent, request as requestSecure } from "node:https";
import { readKubeconfig, startRealCluster } from "@drover/real-cluster";
import type { ClientAccess } from "@drover/real-cluster";
import { startSandbox } from "../src/index.ts";
import { field, parseJson, textAt } from "../src/json.ts";
import type { Json } from "../src/json.ts";

/** A request without references. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The name of the object with which the reading of lines ends. */
  readonly until?: string | undefined;
}

export interface Answer {
  readonly code: number;
  /** The headers that are compared. */
  readonly headers: Readonly<Record<string, Json>>;
  /** A document, or the lines of a watch, or text that is neither. */
  readonly body: Json;
}

export interface Server {
  readonly name: "sandbox" | "real";
  /** How long it took to start. */
  readonly startedMs: number;
  send(asked: Asked): Promise<Answer>;
  close(): Promise<void>;
}

export interface Servers {
  readonly real: Server;
  readonly sandbox: Server;
}

function headersOf({ headers, rawHeaders }: IncomingMessage): Record<string, Json> {
  const warnings = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === "warning");
  return {
    "content-type": headers["content-type"] ?? null,
    "retry-after": headers["retry-after"] ?? null,
    warning: warnings,
  };
}

const parsed = (text: string): Json => {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
};

function isLast(event: Json, until: string): boolean {
  if (textAt(event, "type") === "ERROR") return true;
  const annotations = field(event, "object", "metadata", "annotations") ?? null;
  if (until === "initial-events-end") return field(annotations, "k8s.io/initial-events-end") === "true";
  const row = field(event, "object", "rows");
  const name =
    textAt(event, "object", "metadata", "name") ?? textAt(firstOf(row), "object", "metadata", "name");
  return name === until;
}
const firstOf = (list: Json | undefined): Json =>
  Array.isArray(list) ? ((list as readonly Json[])[0] ?? null) : null;

/** The lines of a watch up to the requested one, without bookmarks that only have a version. */
async function linesOf(response: IncomingMessage, until: string): Promise<Json> {
  const lines: Json[] = [];
  let rest = "";
  response.setEncoding("utf8");
  for await (const chunk of response as AsyncIterable<string>) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const event = parsed(part);
      const hasAnnotations = field(event, "object", "metadata", "annotations") !== undefined;
      if (textAt(event, "type") !== "BOOKMARK" || hasAnnotations) lines.push(event);
      if (isLast(event, until)) {
        response.destroy();
        return lines;
      }
    }
  }
  return rest === "" ? lines : [...lines, rest];
}

async function wholeOf(response: IncomingMessage): Promise<Json> {
  const parts: Buffer[] = [];
  for await (const part of response as AsyncIterable<Buffer>) parts.push(part);
  return parsed(Buffer.concat(parts).toString());
}

/** A server that sends nothing for so long sends no more: that is an answer, too. */
const silenceMs = 10_000;

type Request = typeof requestPlain | typeof requestSecure;

const sending =
  (
    request: Request,
    url: string,
    {
      token,
      ...options
    }: RequestOptions & Partial<Pick<ClientAccess, "ca" | "cert" | "key">> & { readonly token?: string },
  ) =>
  ({ method, path, headers, body, until }: Asked): Promise<Answer> =>
    new Promise((resolve) => {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const framed = body === "" ? headers : { "content-length": Buffer.byteLength(body), ...headers };
      const sent = request(
        url + path,
        { ...options, method, headers: { ...authorization, ...framed } },
        (response) => {
          const streamed = until !== undefined && response.statusCode === 200;
          const reading = streamed ? linesOf(response, until) : wholeOf(response);
          const answered = (read: Json): void =>
            resolve({ code: response.statusCode ?? 0, headers: headersOf(response), body: read });
          reading.then(answered, (error: unknown) => answered(`broken off: ${String(error)}`));
        },
      );
      sent.setTimeout(silenceMs, () => sent.destroy(new Error(`no answer to ${method} ${path}`)));
      sent.on("error", (error) => resolve({ code: 0, headers: {}, body: error.message })).end(body);
    });

/** Starts a sandbox, which is asked over HTTP. */
export async function startSandboxServer(): Promise<Server> {
  const begun = performance.now();
  const sandbox = await startSandbox({ controllers: false });
  const startedMs = performance.now() - begun;
  // Node ends connections that were idle for five seconds, even if a request is already sent.
  const agent = new PlainAgent({ keepAlive: false });
  const close = async (): Promise<void> => {
    agent.destroy();
    await sandbox.close();
  };
  return {
    name: "sandbox",
    startedMs,
    send: sending(requestPlain, sandbox.url, { agent, token: sandbox.token }),
    close,
  };
}

/** Starts a real API server with its own etcd. */
export async function startRealServer(): Promise<Server> {
  const begun = performance.now();
  // The range of addresses for Services is that of the sandbox.
  const cluster = await startRealCluster({ apiServerArgs: ["--service-cluster-ip-range=127.1.0.0/16"] });
  const startedMs = performance.now() - begun;
  const { url, ca, cert, key } = readKubeconfig(cluster.kubeconfig);
  const agent = new Agent({ keepAlive: true });
  const close = async (): Promise<void> => {
    agent.destroy();
    await cluster.stop();
  };
  return { name: "real", startedMs, send: sending(requestSecure, url, { agent, ca, cert, key }), close };
}

/** Starts both servers, and stops them after `use`. Rejects if a server does not start. */
export async function withServers<T>(use: (servers: Servers) => Promise<T>): Promise<T> {
  const sandbox = await startSandboxServer();
  try {
    const real = await startRealServer();
    try {
      return await use({ real, sandbox });
    } finally {
      await real.close();
    }
  } finally {
    await sandbox.close();
  }
}
