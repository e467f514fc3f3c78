import { serve, type ServerType } from "@hono/node-server";
import { Hono } from "hono";
import type { Registry } from "prom-client";

/**
 * Something that must be well for a process to be ready: rejects, or answers a sentence, when it is not. A note says what
 * is not well, and does not keep the process from being ready.
 */
export type Check = () => Promise<CheckAnswer> | CheckAnswer;
export type CheckAnswer = string | { readonly note: string } | undefined;

export interface ProcessServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly registry: Registry;
  readonly ready: ReadonlyMap<string, Check>;
  /** What is served beside that, by path prefix: JSON, or nothing for 404. */
  readonly answers: ReadonlyMap<string, Answer>;
}

/** Answers a GET of what follows its prefix. */
export type Answer = (rest: string) => Promise<object | undefined>;

/** What every process serves: `/healthz` (it runs), `/readyz` (it can do its work, or why not), `/metrics`. */
export interface ProcessServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function serveProcess({
  host,
  port,
  registry,
  ready,
  answers,
}: ProcessServerOptions): Promise<ProcessServer> {
  const app = new Hono()
    .get("/healthz", (c) => c.text("ok\n"))
    .get("/readyz", async (c) => {
      const { problems, notes } = await readinessOf(ready);
      const lines = [...(problems.length === 0 ? ["ok"] : problems), ...notes];
      return c.text(`${lines.join("\n")}\n`, problems.length === 0 ? 200 : 503);
    })
    .get("/metrics", async (c) =>
      c.body(await registry.metrics(), 200, { "content-type": registry.contentType }),
    )
    .get("*", async (c) => {
      const [prefix, answer] = [...answers].find(([start]) => c.req.path.startsWith(start)) ?? [];
      const found = prefix === undefined ? undefined : await answer?.(c.req.path.slice(prefix.length));
      return found === undefined ? c.notFound() : c.json(found);
    });
  const listening = Promise.withResolvers<number>();
  const server: ServerType = serve({ fetch: app.fetch, hostname: host, port }, (info) =>
    listening.resolve(info.port),
  );
  server.once("error", (cause: Error) => {
    listening.reject(
      new Error(`Cannot listen on ${host}:${port}. Free the port, or set DROVER_HTTP_PORT.`, { cause }),
    );
  });
  const bound = await listening.promise;
  return {
    url: `http://${host}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ("closeAllConnections" in server) server.closeAllConnections();
      }),
  };
}

async function readinessOf(ready: ReadonlyMap<string, Check>) {
  const answers = await Promise.all(
    [...ready].map(async ([name, check]) => {
      try {
        return [name, await check()] as const;
      } catch (error) {
        return [name, error instanceof Error ? error.message : String(error)] as const;
      }
    }),
  );
  return {
    problems: answers.flatMap(([name, answer]) => (typeof answer === "string" ? [`${name}: ${answer}`] : [])),
    notes: answers.flatMap(([name, answer]) =>
      typeof answer === "object" ? [`${name}: ${answer.note}`] : [],
    ),
  };
}
