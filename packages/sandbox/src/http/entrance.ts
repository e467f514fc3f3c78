// Which requests are served at all, decided by their headers: web pages are refused, and all but health needs the token.
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { guarded, refusalOf, takeToken } from "@drover/listener";
import { ApiError } from "./status.ts";

/** What a request must bring to be served. */
export interface Entrance {
  /** The bearer token of every request but those for health. */
  readonly token: string;
  /** Host names, without port, under which clients reach the sandbox, beside its own address and `localhost`. */
  readonly hosts: readonly string[];
}

const health = new Set(["/healthz", "/livez", "/readyz"]);

/** As the API server answers who brings no token, or a wrong one; what to do is ours to add. */
const unauthorized = (): ApiError =>
  new ApiError(
    401,
    "Unauthorized",
    "Unauthorized: this sandbox serves only requests with its bearer token. Use the kubeconfig that it writes, or send " +
      "the header Authorization: Bearer <the token in that kubeconfig>.",
  );

/**
 * A real API server takes such a body for JSON, and kubectl puts scales so. A POST is all that web pages send without a
 * type and without asking first; clients do not.
 */
const untyped = (): ApiError =>
  new ApiError(
    415,
    "UnsupportedMediaType",
    "the request has a body and no Content-Type. Send the header Content-Type, such as application/json.",
  );

const refusedPage = (problem: string): ApiError => new ApiError(403, "Forbidden", refusalOf(problem));

function problemOf(request: IncomingMessage, token: string): ApiError | undefined {
  const isKnown = takeToken(request, token);
  const [path = ""] = (request.url ?? "").split("?");
  if (health.has(path)) return undefined;
  if (!isKnown) return unauthorized();
  const isTyped = request.headers["content-type"] !== undefined;
  return request.method === "POST" && hasBody(request) && !isTyped ? untyped() : undefined;
}

/** By RFC 9112, section 6. */
const hasBody = ({ headers }: IncomingMessage): boolean =>
  Number(headers["content-length"] ?? 0) > 0 || headers["transfer-encoding"] !== undefined;

/** The body that may follow is not read: the connection ends with the answer. */
function refuse(response: ServerResponse, { code, status }: ApiError): void {
  const headers = { "content-type": "application/json", connection: "close" };
  response.writeHead(code, headers).end(`${JSON.stringify(status)}\n`);
}

/** Serves what may come in, and refuses the rest with a Status, before it reads a body. */
export const behindEntrance = (handle: RequestListener, { token, hosts }: Entrance): RequestListener =>
  guarded(
    (request, response) => {
      const problem = problemOf(request, token);
      if (problem === undefined) handle(request, response);
      else refuse(response, problem);
    },
    { where: "everywhere", hosts },
    (response, problem) => refuse(response, refusedPage(problem)),
  );
