import { type HttpBindings, getRequestListener } from "@hono/node-server";
import { type Log, messageOf } from "@drover/controller";
import { bearerTokenOf, withPageGuard, isLoopback } from "@drover/listener";
import { type Context, Hono } from "hono";
import { createServer } from "node:http";
import type { Registry } from "prom-client";
import { listenOn } from "./listen-on.ts";
import type { AccessDecision, ReadAuthorizer, ReadAttributes } from "./read-authorizer.ts";
import { cacheWithTtl } from "./cache-with-ttl.ts";

/**
 * A condition for a process to be ready. The process is not ready if the check rejects or returns a sentence. A note
 * reports a problem without making the process unready.
 */
export type ReadinessCheck = () => Promise<ReadinessResult> | ReadinessResult;
export type ReadinessResult = string | { readonly note: string } | undefined;

export interface ProcessServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly registry: Registry;
  readonly ready: ReadonlyMap<string, ReadinessCheck>;
  /** More to serve, by path prefix. */
  readonly endpoints: ReadonlyMap<string, JsonEndpoint>;
  /** Decides which senders may read metrics, answers, and the reasons why the process is not ready. */
  readonly access: ReadAuthorizer;
  readonly log: Pick<Log, "warn">;
}

/** Answers GET requests below a path prefix. `rest` is the path after the prefix. */
export interface JsonEndpoint {
  /** The permission that the sender needs; undefined if `rest` names nothing. */
  readonly accessFor: (rest: string) => ReadAttributes | undefined;
  /** The response as JSON; undefined for 404. */
  readonly respond: (rest: string) => Promise<object | undefined>;
}

/**
 * The server that every process has: `/healthz` (the process runs), `/readyz` (it can work, or the parts that cannot),
 * `/metrics`. On loopback, requests of web pages are refused.
 */
export interface ProcessServer {
  readonly url: string;
  close(): Promise<void>;
}

type Env = { Bindings: HttpBindings };

export async function serveProcess(options: ProcessServerOptions): Promise<ProcessServer> {
  const { host, port } = options;
  const handle = getRequestListener(processApp(options).fetch, {
    hostname: host,
    overrideGlobalObjects: false,
  });
  const server = createServer(
    withPageGuard((incoming, outgoing) => void handle(incoming, outgoing), { where: "loopback" }),
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

/** `none` if only programs on this machine reach the listener, else `kubernetes`. */
export const defaultMetricsAuth = (host: string): "none" | "kubernetes" =>
  isLoopback(host) ? "none" : "kubernetes";

/** How long metrics are cached, ms, because collecting them runs scripts in Redis. */
const metricsCacheTime = 1_000;

const metricsAttributes: ReadAttributes = { nonResourceAttributes: { path: "/metrics", verb: "get" } };

function processApp({ registry, ready, endpoints, access, log }: ProcessServerOptions): Hono<Env> {
  const metrics = cacheWithTtl(() => registry.metrics(), metricsCacheTime);
  const logProblems = readinessLogger(log);
  const decide = (c: Context<Env>, what: ReadAttributes): Promise<AccessDecision> =>
    access(bearerTokenOf(c.env.incoming), what);
  const app = new Hono<Env>();
  app.onError((error, c) => {
    log.warn({ err: error, path: c.req.path }, "A request could not be answered");
    return c.text("This cannot be answered now: the reason is in the log of the process. Try again.\n", 503);
  });
  app
    .get("/healthz", (c) => c.text("ok\n"))
    .get("/readyz", async (c) => {
      const { problems, notes } = await readinessOf(ready);
      logProblems(problems);
      const all = [...problems, ...notes];
      if (all.length === 0) return c.text("ok\n");
      const mayKnow = (await decide(c, metricsAttributes)) === "allowed";
      const words = ({ part, why }: Problem, hidden: string): string => `${part}: ${mayKnow ? why : hidden}`;
      const lines = [
        ...(problems.length === 0 ? ["ok"] : problems.map((one) => words(one, "not ready"))),
        ...notes.map((one) => words(one, "has a problem")),
      ];
      return c.text(`${lines.join("\n")}\n`, problems.length === 0 ? 200 : 503);
    })
    .get("/metrics", async (c) => {
      const decision = await decide(c, metricsAttributes);
      if (decision !== "allowed") return refused(c, decision);
      return c.body(await metrics(), 200, { "content-type": registry.contentType });
    })
    .get("*", async (c) => {
      const [prefix = "", served] = [...endpoints].find(([start]) => c.req.path.startsWith(start)) ?? [];
      const rest = c.req.path.slice(prefix.length);
      const reads = served?.accessFor(rest);
      if (served === undefined || reads === undefined) return c.notFound();
      const decision = await decide(c, reads);
      if (decision !== "allowed") return refused(c, decision);
      const found = await served.respond(rest);
      return found === undefined ? c.notFound() : c.json(found);
    });
  return app;
}

function refused(c: Context<Env>, { status, message }: Exclude<AccessDecision, "allowed">): Response {
  if (status === 401) c.header("www-authenticate", "Bearer");
  return c.text(`${message}\n`, status);
}

interface Problem {
  readonly part: string;
  readonly why: string;
}

/** Problems make the process unready; notes do not. */
interface Readiness {
  readonly problems: readonly Problem[];
  readonly notes: readonly Problem[];
}

/** The result of all checks, by the name of each. */
export async function readinessOf(ready: ReadonlyMap<string, ReadinessCheck>): Promise<Readiness> {
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

/**
 * Logs why the process is not ready, each time that the list of parts that are not ready changes. A probe's response
 * lacks the reasons.
 */
function readinessLogger(log: Pick<Log, "warn">): (problems: readonly Problem[]) => void {
  let last = "";
  return (problems) => {
    const parts = problems.map(({ part }) => part).join(", ");
    if (parts !== last && parts !== "") log.warn({ problems }, "Not ready");
    last = parts;
  };
}
