import { createServer } from "node:http";
import type { Server } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import type { Context } from "hono";
import { createCluster } from "./cluster.ts";
import type { Cluster } from "./cluster.ts";
import * as discovery from "./discovery.ts";
import { faultStatus } from "./faults.ts";
import type { FaultAnswer, Faults, SandboxRequest } from "./faults.ts";
import type { JsonObject } from "./json.ts";
import type { KubeObject } from "./kube-object.ts";
import { kubeconfigFor } from "./kubeconfig.ts";
import { keepLifecycles } from "./lifecycle.ts";
import { serveResource } from "./routes.ts";
import type { ApiContext } from "./routes.ts";
import { ApiError, internalError, tooLargeBody } from "./status.ts";
import { createStore } from "./store.ts";
import type { Watch } from "./watch.ts";
import { create } from "./writes.ts";

export interface SandboxOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** 127.0.0.1 by default. There is no authentication: whoever reaches the port may do everything. */
  readonly host?: string;
  /** The clock of timestamps and ages. */
  readonly now?: () => Date;
  /** How many changes are kept for watches and lists of older versions; 10,000 by default. Older ones answer 410. */
  readonly historyLimit?: number;
  /** How often a watch that allows bookmarks gets one; a minute by default. */
  readonly bookmarkEveryMs?: number;
}

/** A running API server. Whoever started it closes it. */
export interface Sandbox {
  readonly url: string;
  /** A kubeconfig (YAML) for this server. */
  kubeconfig(): string;
  readonly faults: Faults;
  /** What is in the store now, for tests to look at: by plural and group (`pods`, `widgets.example.com`), in order of keys. */
  objects(resource: string): readonly KubeObject[];
  /** The latest resourceVersion. */
  readonly resourceVersion: string;
  /** Stops listening, ends all watches and closes all connections. */
  close(): Promise<void>;
}

const bodyLimit = 3 * 1024 * 1024;

type Env = { Bindings: HttpBindings };
type Hook = (request: SandboxRequest) => FaultAnswer | undefined;

async function limitedBody(context: Context<Env>): Promise<string> {
  if (Number(context.req.header("content-length") ?? 0) > bodyLimit) throw tooLargeBody(bodyLimit);
  const text = await context.req.text();
  if (Buffer.byteLength(text) > bodyLimit) throw tooLargeBody(bodyLimit);
  return text;
}

const respond = (body: JsonObject, status: number, headers: Record<string, string> = {}): Response =>
  new Response(`${JSON.stringify(body)}\n`, {
    status,
    headers: { "content-type": "application/json", ...headers },
  });

function refusal(error: unknown): Response {
  const known =
    error instanceof ApiError ? error : internalError(error instanceof Error ? error.message : String(error));
  const retry: Record<string, string> =
    known.retryAfterSeconds === undefined ? {} : { "retry-after": String(known.retryAfterSeconds) };
  return respond(known.status, known.code, retry);
}

function faultOf(hooks: ReadonlySet<Hook>, request: SandboxRequest): Response | undefined {
  for (const hook of hooks) {
    const fault = hook(request);
    if (!fault) continue;
    const { retryAfterSeconds: seconds } = fault;
    return respond(
      faultStatus(fault),
      fault.status,
      seconds === undefined ? {} : { "retry-after": String(seconds) },
    );
  }
  return undefined;
}

const notThere = (): Response => new Response("404 page not found\n", { status: 404 });
const documentOr404 = (document: JsonObject | undefined): Response =>
  document ? respond(document, 200) : notThere();

function discoveryRoutes(app: Hono<Env>, cluster: Cluster): void {
  const aggregatedOr = (context: Context<Env>, legacy: () => JsonObject, core: boolean): Response =>
    discovery.wantsAggregated(context.req.header("accept") ?? "")
      ? respond(discovery.aggregated(cluster.types(), core), 200, {
          "content-type": discovery.aggregatedMedia,
        })
      : respond(legacy(), 200);
  for (const path of ["/healthz", "/livez", "/readyz"]) app.get(path, (context) => context.text("ok"));
  app.get("/version", () => respond(discovery.version, 200));
  app.get("/api", (context) =>
    aggregatedOr(context, () => discovery.legacyVersions(context.req.header("host") ?? ""), true),
  );
  app.get("/apis", (context) => aggregatedOr(context, () => discovery.groupList(cluster.types()), false));
  app.get("/api/:version", (context) =>
    documentOr404(discovery.resourceList(cluster.types(), "", context.req.param("version"))),
  );
  app.get("/apis/:group", (context) =>
    documentOr404(discovery.groupDocument(cluster.types(), context.req.param("group"))),
  );
  app.get("/apis/:group/:version", (context) =>
    documentOr404(
      discovery.resourceList(cluster.types(), context.req.param("group"), context.req.param("version")),
    ),
  );
  app.get("/openapi/v2", () =>
    respond(
      { swagger: "2.0", info: { title: "Kubernetes", version: "v1.36.0" }, paths: {}, definitions: {} },
      200,
    ),
  );
  app.get("/openapi/v3", () => respond(discovery.openApiRoot(cluster.types()), 200));
  app.get("/openapi/v3/*", (context) =>
    documentOr404(discovery.openApiDocument(cluster.types(), context.req.path.slice("/openapi/v3/".length))),
  );
}

async function resource(api: ApiContext, context: Context<Env>): Promise<Response> {
  const url = new URL(context.req.url);
  const answer = await serveResource(api, {
    method: context.req.method,
    path: url.pathname,
    query: url.searchParams,
    header: (name) => context.req.header(name) ?? "",
    body: () => limitedBody(context),
    out: context.env.outgoing,
  });
  if (answer === "watching") return RESPONSE_ALREADY_SENT;
  if (!answer) return notThere();
  const response = respond(answer.body, answer.code);
  for (const warning of answer.warnings)
    response.headers.append("warning", `299 - ${JSON.stringify(warning)}`);
  return response;
}

function application(api: ApiContext, hooks: ReadonlySet<Hook>): Hono<Env> {
  const app = new Hono<Env>();
  app.onError(refusal);
  app.use(async (context, next) => {
    const url = new URL(context.req.url);
    const fault = faultOf(hooks, { method: context.req.method, path: url.pathname, query: url.searchParams });
    if (!fault) await next();
    return fault;
  });
  discoveryRoutes(app, api.cluster);
  app.all("/api/*", (context) => resource(api, context));
  app.all("/apis/*", (context) => resource(api, context));
  app.notFound(notThere);
  return app;
}

/** The namespaces that every cluster has. */
function createNamespaces(cluster: Cluster): void {
  const type = cluster.typeOf("", "v1", "namespaces");
  for (const name of ["default", "kube-node-lease", "kube-public", "kube-system"])
    if (type)
      create(
        cluster,
        type,
        "",
        { metadata: { name } },
        { dryRun: false, fieldValidation: "Strict", warn: () => undefined },
      );
}

const listening = (server: Server, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });

/** Starts an API server with nothing in it but namespaces. Rejects when the port is taken. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const {
    port = 0,
    host = "127.0.0.1",
    now = () => new Date(),
    historyLimit = 10_000,
    bookmarkEveryMs = 60_000,
  } = options;
  const store = createStore(historyLimit);
  const cluster = createCluster(store, now);
  keepLifecycles(cluster);
  createNamespaces(cluster);
  const watches = new Set<Watch>();
  const hooks = new Set<Hook>();
  const app = application({ cluster, watches, bookmarkEveryMs }, hooks);
  const handle = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = createServer((incoming, outgoing) => void handle(incoming, outgoing));
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${await listening(server, port, host)}`;
  return {
    url,
    kubeconfig: () => kubeconfigFor(url),
    faults: {
      dropWatches: () => [...watches].forEach((watch) => watch.drop()),
      compact: () => store.compact(),
      respond(hook) {
        hooks.add(hook);
        return () => void hooks.delete(hook);
      },
    },
    objects: (name) => store.list(name).objects,
    get resourceVersion() {
      return String(store.version);
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const watch of watches) watch.end();
      setImmediate(() => server.closeAllConnections());
      await closed;
    },
  };
}
