import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** A request as the script sees it. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** The port that it came from: requests over one connection have the same. */
  readonly from: number | undefined;
}

export type ReplyScript = (request: ReceivedRequest, response: ServerResponse) => void;

/** An HTTP server with scripted answers, one after the other: for answers that no API server gives. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  /** Path of a kubeconfig that leads here. */
  readonly kubeconfig: string;
  /** Every request so far. */
  readonly requests: readonly ReceivedRequest[];
  /** Answers the next requests, each script one; the last one also answers all that follow. */
  answer(...scripts: readonly ReplyScript[]): void;
  /** Resolves when this many requests have come. */
  until(requests: number): Promise<void>;
}

export async function scriptedServer(...first: readonly ReplyScript[]): Promise<ScriptedServer> {
  let scripts = [...first];
  const received: ReceivedRequest[] = [];
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const url = new URL(request.url ?? "/", "http://scripted");
      const { method = "", headers } = request;
      const from = request.socket.remotePort;
      const { pathname: path, searchParams: query } = url;
      const one: ReceivedRequest = { method, path, query, headers, body, from };
      received.push(one);
      const script = scripts.length > 1 ? scripts.shift() : scripts[0];
      (script ?? hangs)(one, response);
      waiting.forEach((check) => check());
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The scripted server has no port.");
  const url = `http://127.0.0.1:${address.port}`;
  const folder = await mkdtemp(join(tmpdir(), "drover-kube-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, kubeconfigOf(url));
  return {
    url,
    kubeconfig,
    requests: received,
    answer: (...next) => (scripts = [...next]),
    until: (requests) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (received.length < requests) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A kubeconfig for a server, as JSON, which is YAML too. */
export const kubeconfigOf = (server: string, user: object = {}): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "here",
    clusters: [{ name: "here", cluster: { server } }],
    contexts: [{ name: "here", context: { cluster: "here", user: "me" } }],
    users: [{ name: "me", user }],
  });

/** Answers with JSON. */
export const jsonReply =
  (body: object, status = 200, headers: Readonly<Record<string, string>> = {}): ReplyScript =>
  (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };

/** Answers with this text. */
export const raw =
  (body: string | Buffer, status = 200, headers: Readonly<Record<string, string>> = {}): ReplyScript =>
  (_request, response) => {
    response.writeHead(status, headers);
    response.end(body);
  };

/** A refusal in the format of an API server. */
export const refuses = (
  code: number,
  reason: string,
  details: object = {},
  headers: Readonly<Record<string, string>> = {},
): ReplyScript =>
  jsonReply(
    { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message: `no: ${reason}`, details },
    code,
    headers,
  );

/** A watch that sends these frames, and stays open. */
export const streams =
  (...frames: readonly (object | string)[]): ReplyScript =>
  (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    for (const frame of frames)
      response.write(typeof frame === "string" ? frame : `${JSON.stringify(frame)}\n`);
  };

/** A watch that sends these frames, and ends normally. */
export const streamsAndEnds =
  (...frames: readonly (object | string)[]): ReplyScript =>
  (request, response) => {
    streams(...frames)(request, response);
    response.end();
  };

/** A watch that sends these frames, and breaks. */
export const streamsAndBreaks =
  (...frames: readonly (object | string)[]): ReplyScript =>
  (request, response) => {
    streams(...frames)(request, response);
    setImmediate(() => response.socket?.resetAndDestroy());
  };

/** Never answers. */
export const hangs: ReplyScript = () => undefined;

/** Closes the connection without an answer. */
export const hangsUp: ReplyScript = (_request, response) => {
  response.socket?.destroy();
};
