import { type HttpBindings, getRequestListener } from "@hono/node-server";
import { type Log, messageOf } from "@drover/controller";
import { bearerOf, guarded, isLoopback } from "@drover/listener";
import { type Context, Hono } from "hono";
import { createServer } from "node:http";
import type { Registry } from "prom-client";
import { listenOn } from "./listen-on.ts";
import type { Decision, ReadAccess, ReadOf } from "./read-access.ts";
import { recent } from "./recent.ts";

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
  /** What is served beside that, by path prefix. */
  readonly answers: ReadonlyMap<string, Answer>;
  /** Who may read metrics, answers, and the reasons for not being ready. */
  readonly access: ReadAccess;
  readonly log: Pick<Log, "warn">;
}

/** Answers a GET of what follows its prefix. */
export interface Answer {
  /** What the sender must be allowed to read; undefined where the rest of the path names nothing. */
  readonly reads: (rest: string) => ReadOf | undefined;
  /** JSON, or nothing for 404. */
  readonly answer: (rest: string) => Promise<object | undefined>;
}

/**
 * What every process serves: `/healthz` (it runs), `/readyz` (it can do its work, or which part cannot), `/metrics`.
 * On loopback, requests of web pages are refused.
 */
export interface ProcessServer {
  readonly url: string;
  close(): Promise<void>;
}

type Env = { Bindings: HttpBindings };

export async function serveProcess(options: ProcessServerOptions): Promise<ProcessServer> {
  const { host, port } = options;
  const handle = getRequestListener(processApp(options).fetch, { hostname: host });
  const server = createServer(
    guarded((incoming, outgoing) => void handle(incoming, outgoing), { where: "loopback" }),
  );
  const url = await listenOn(server, { host, port, settings: "DROVER_HTTP_PORT" });
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** `none` where only programs of this machine reach the listener, `kubernetes` elsewhere. */
export const usualMetricsAuth = (host: string): "none" | "kubernetes" =>
  isLoopback(host) ? "none" : "kubernetes";

/** How long metrics are answered from memory: to collect them takes scripts in Redis. */
const metricsHold = 1_000;

const ofMetrics: ReadOf = { nonResourceAttributes: { path: "/metrics", verb: "get" } };

function processApp({ registry, ready, answers, access, log }: ProcessServerOptions): Hono<Env> {
  const metrics = recent(() => registry.metrics(), metricsHold);
  const told = tellOnce(log);
  const decide = (c: Context<Env>, what: ReadOf): Promise<Decision> => access(bearerOf(c.env.incoming), what);
  const app = new Hono<Env>();
  app
    .get("/healthz", (c) => c.text("ok\n"))
    .get("/readyz", async (c) => {
      const { problems, notes } = await readinessOf(ready);
      told(problems);
      const all = [...problems, ...notes];
      if (all.length === 0) return c.text("ok\n");
      const mayKnow = (await decide(c, ofMetrics)) === "allowed";
      const words = ({ part, why }: Problem, hidden: string): string => `${part}: ${mayKnow ? why : hidden}`;
      const lines = [
        ...(problems.length === 0 ? ["ok"] : problems.map((one) => words(one, "not ready"))),
        ...notes.map((one) => words(one, "not well")),
      ];
      return c.text(`${lines.join("\n")}\n`, problems.length === 0 ? 200 : 503);
    })
    .get("/metrics", async (c) => {
      const decision = await decide(c, ofMetrics);
      if (decision !== "allowed") return refused(c, decision);
      return c.body(await metrics(), 200, { "content-type": registry.contentType });
    })
    .get("*", async (c) => {
      const [prefix = "", served] = [...answers].find(([start]) => c.req.path.startsWith(start)) ?? [];
      const rest = c.req.path.slice(prefix.length);
      const reads = served?.reads(rest);
      if (served === undefined || reads === undefined) return c.notFound();
      const decision = await decide(c, reads);
      if (decision !== "allowed") return refused(c, decision);
      const found = await served.answer(rest);
      return found === undefined ? c.notFound() : c.json(found);
    });
  return app;
}

function refused(c: Context<Env>, { status, message }: Exclude<Decision, "allowed">): Response {
  if (status === 401) c.header("www-authenticate", "Bearer");
  return c.text(`${message}\n`, status);
}

interface Problem {
  readonly part: string;
  readonly why: string;
}

/** Problems keep the process from being ready; notes do not. */
interface Readiness {
  readonly problems: readonly Problem[];
  readonly notes: readonly Problem[];
}

async function readinessOf(ready: ReadonlyMap<string, Check>): Promise<Readiness> {
  const answers = await Promise.all(
    [...ready].map(async ([part, check]) => ({ part, answer: await Promise.try(check).catch(messageOf) })),
  );
  return {
    problems: answers.flatMap(({ part, answer }) =>
      typeof answer === "string" ? [{ part, why: answer }] : [],
    ),
    notes: answers.flatMap(({ part, answer }) =>
      typeof answer === "object" ? [{ part, why: answer.note }] : [],
    ),
  };
}

/** Logs why the process is not ready, each time that other parts are not: the answer to a probe does not say it. */
function tellOnce(log: Pick<Log, "warn">): (problems: readonly Problem[]) => void {
  let last = "";
  return (problems) => {
    const parts = problems.map(({ part }) => part).join(", ");
    if (parts !== last && parts !== "") log.warn({ problems }, "Not ready");
    last = parts;
  };
}
