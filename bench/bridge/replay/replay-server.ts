import { createReadStream } from "node:fs";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "../../../verification/harness/listen.ts";
import { now } from "../../../verification/harness/clock.ts";
import { widgets } from "../cluster/widgets.ts";
import { formatAsked } from "./formats.ts";
import { pageSize, type Recording } from "./record.ts";

/** Sends the recorded answers, as fast as the client takes them. */
export interface ReplayServer {
  readonly url: string;
  /** Resolves when a client has received the list, and waits for the changes. */
  readonly watching: Promise<void>;
  /** Let the recorded watch go on. Answers the time: ms of the monotonic clock. */
  release(): number;
  /** What it could not answer. */
  readonly unknown: readonly string[];
  stop(): Promise<void>;
}

export async function startReplayServer(recording: Recording): Promise<ReplayServer> {
  const watching = Promise.withResolvers<undefined>();
  const gate = Promise.withResolvers<undefined>();
  const unknown: string[] = [];
  let watches = 0;

  const watch = async (
    query: URLSearchParams,
    asked: IncomingMessage,
    answer: ServerResponse,
  ): Promise<void> => {
    const { type, initial, live } = recording.formats[formatAsked(asked.headers.accept)];
    answer.writeHead(200, { "content-type": type });
    answer.flushHeaders();
    if (query.get("sendInitialEvents") === "true") await pass(initial, answer);
    // A client that watches a second time has lost its connection; it gets nothing more, and its round fails.
    if ((watches += 1) > 1) return void unknown.push(`a second watch, ${query.toString()}`);
    watching.resolve(undefined);
    await gate.promise;
    await pass(live, answer);
  };
  const list = (query: URLSearchParams, asked: IncomingMessage, answer: ServerResponse): void => {
    const { whole, pages } = recording.formats[formatAsked(asked.headers.accept)];
    const paged = Number(query.get("limit")) === pageSize && query.get("resourceVersion") !== "0";
    const page = (paged ? pages.get(query.get("continue") ?? "") : undefined) ?? whole;
    answer.writeHead(200, { "content-type": page.type, "content-length": page.body.length }).end(page.body);
  };
  const server = createServer((asked, answer) => {
    const { pathname, searchParams } = new URL(asked.url ?? "/", "http://127.0.0.1");
    const discovered = recording.discovery.get(pathname);
    if (pathname === widgets.collection && isTrue(searchParams.get("watch"))) {
      watch(searchParams, asked, answer).catch(() => answer.destroy());
    } else if (pathname === widgets.collection) list(searchParams, asked, answer);
    else if (discovered !== undefined) answer.setHeader("content-type", "application/json").end(discovered);
    else {
      unknown.push(`${String(asked.method)} ${String(asked.url)}`);
      answer.writeHead(404, { "content-type": "application/json" }).end(notFound);
    }
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    watching: watching.promise,
    release() {
      gate.resolve(undefined);
      return now();
    },
    unknown,
    async stop() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const isTrue = (value: string | null): boolean => value === "true" || value === "1";

const notFound = JSON.stringify({
  kind: "Status",
  apiVersion: "v1",
  status: "Failure",
  reason: "NotFound",
  code: 404,
});

async function pass(file: string, answer: ServerResponse): Promise<void> {
  const source = createReadStream(file, { highWaterMark: 1 << 18 });
  source.pipe(answer, { end: false });
  await once(source, "end");
}
