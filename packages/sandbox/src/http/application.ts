// The HTTP application: faults first, then health and discovery, then resources. Each refusal is a Status.
import { writeJson } from "@drover/json";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import type { Context } from "hono";
import { discoveryDocument } from "./discovery.ts";
import { faultStatus } from "./faults.ts";
import type { FaultHook, SandboxRequest } from "./faults.ts";
import { htmlSafe } from "./go-text.ts";
import type { JsonObject } from "../json.ts";
import { decodedPath } from "./paths.ts";
import { serveResource } from "./routes.ts";
import type { ApiContext } from "./routes.ts";
import { ApiError, internalError, methodNotAllowed, tooLargeBody } from "./status.ts";

type Env = { Bindings: HttpBindings; Variables: { path: string } };

const openApiV2 = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const bodyLimit = 3 * 1024 * 1024;

async function limitedBody(context: Context<Env>): Promise<Uint8Array> {
  if (Number(context.req.header("content-length") ?? 0) > bodyLimit) throw tooLargeBody(bodyLimit);
  const body = new Uint8Array(await context.req.arrayBuffer());
  if (body.length > bodyLimit) throw tooLargeBody(bodyLimit);
  return body;
}

function respond(body: JsonObject, status: number, retryAfterSeconds?: number): Response {
  const headers = new Headers({ "content-type": "application/json" });
  if (retryAfterSeconds !== undefined) headers.set("retry-after", String(retryAfterSeconds));
  return new Response(`${htmlSafe(writeJson(body))}\n`, { status, headers });
}

function refusal(error: unknown): Response {
  const known =
    error instanceof ApiError ? error : internalError(error instanceof Error ? error.message : String(error));
  return respond(known.status, known.code, known.retryAfterSeconds);
}

function faultOf(hooks: ReadonlySet<FaultHook>, request: SandboxRequest): Response | undefined {
  for (const hook of hooks) {
    const fault = hook(request);
    if (fault) return respond(faultStatus(fault), fault.status, fault.retryAfterSeconds);
  }
  return undefined;
}

const plainText = "text/plain; charset=utf-8";
const textResponse = (text: string, status: number): Response =>
  new Response(text, { status, headers: { "content-type": plainText } });
const notThere = (): Response => textResponse("404 page not found\n", 404);

async function resource(api: ApiContext, context: Context<Env>): Promise<Response> {
  const url = new URL(context.req.url);
  const warnings = new Set<string>();
  const answer = await serveResource(api, {
    method: context.req.method,
    path: context.get("path"),
    query: url.searchParams,
    header: (name) => context.req.header(name) ?? "",
    body: () => limitedBody(context),
    out: context.env.outgoing,
    warn: (text) => {
      warnings.add(`299 - ${JSON.stringify(text)}`);
      // One header for each warning: a Response would join them.
      context.env.outgoing.setHeader("warning", [...warnings]);
    },
  });
  if (answer === "watching") return RESPONSE_ALREADY_SENT;
  if (!answer) return notThere();
  return respond(answer.body, answer.code);
}

/** The server as a Hono application. Needs the response of Node in its environment: watches write to it. */
export function createApplication(api: ApiContext, hooks: ReadonlySet<FaultHook>): Hono<Env> {
  const app = new Hono<Env>();
  app.onError(refusal);
  app.use(async (context, next) => {
    const { pathname: path, searchParams: query } = new URL(context.req.url);
    const fault = faultOf(hooks, { method: context.req.method, path, query });
    if (fault) return fault;
    const decoded = decodedPath(path);
    if (decoded === undefined) return textResponse("400 Bad Request", 400);
    context.set("path", decoded);
    return next();
  });
  for (const path of ["/healthz", "/livez", "/readyz"])
    app.all(path, () => new Response("ok", { headers: { "content-type": plainText } }));
  // An empty document in protobuf. kubectl reads it when it looks for a kind that is not served.
  app.get("/openapi/v2", () => new Response("", { headers: { "content-type": openApiV2 } }));
  app.all("*", (context) => {
    const [path, host, { method }] = [context.get("path"), context.req.header("host") ?? "", context.req];
    const document = discoveryDocument(api.cluster.types(), path, host);
    if (document && !["GET", "HEAD"].includes(method)) throw methodNotAllowed();
    if (document) return respond(document, 200);
    return /^\/apis?\//.test(path) ? resource(api, context) : notThere();
  });
  app.notFound(notThere);
  return app;
}
