// Checks the headers of each request: requests of web pages are refused, and all paths but health need the token.
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { withPageGuard, refusalMessage, verifyToken } from "@drover/listener";
import { ApiError } from "./status.ts";

/** The conditions under which a request is served. */
export interface Entrance {
  /** The bearer token of all requests but those for health. */
  readonly token: string;
  /** Host names, without port, under which clients reach the sandbox, besides its own address and `localhost`. */
  readonly hosts: readonly string[];
}

const health = new Set(["/healthz", "/livez", "/readyz"]);

/** The answer of an API server to a request without a valid token. The sandbox adds what to do. */
const unauthorized = (): ApiError =>
  new ApiError(
    401,
    "Unauthorized",
    "Unauthorized: this sandbox serves only requests with its bearer token. Use the kubeconfig that it writes, or send " +
      "the header Authorization: Bearer <the token in that kubeconfig>.",
  );

/**
 * A real API server reads such a body as JSON. Web pages can send a POST without a type and without a preflight
 * request; clients of the API do not.
 */
const untyped = (): ApiError =>
  new ApiError(
    415,
    "UnsupportedMediaType",
    "the request has a body and no Content-Type. Send the header Content-Type, such as application/json.",
  );

const refusedPage = (problem: string): ApiError => new ApiError(403, "Forbidden", refusalMessage(problem));

function problemOf(request: IncomingMessage, token: string): ApiError | undefined {
  const isKnown = verifyToken(request, token);
  const [path = ""] = (request.url ?? "").split("?");
  if (health.has(path)) return undefined;
  if (!isKnown) return unauthorized();
  const isTyped = request.headers["content-type"] !== undefined;
  return request.method === "POST" && hasBody(request) && !isTyped ? untyped() : undefined;
}

/** By RFC 9112, section 6. */
const hasBody = ({ headers }: IncomingMessage): boolean =>
  Number(headers["content-length"] ?? 0) > 0 || headers["transfer-encoding"] !== undefined;

/** Does not read the body: the connection ends with the answer. */
function refuse(response: ServerResponse, { code, status }: ApiError): void {
  const headers = { "content-type": "application/json", connection: "close" };
  response.writeHead(code, headers).end(`${JSON.stringify(status)}\n`);
}

/** Serves permitted requests, and refuses the others with a Status before it reads a body. */
export const behindEntrance = (handle: RequestListener, { token, hosts }: Entrance): RequestListener =>
  withPageGuard(
    (request, response) => {
      const problem = problemOf(request, token);
      if (problem === undefined) handle(request, response);
      else refuse(response, problem);
    },
    { where: "everywhere", hosts },
    (response, problem) => refuse(response, refusedPage(problem)),
  );
