import type { ServerResponse } from "node:http";
import type { CallFault, RefuseFault } from "../plan/faults.ts";

/** metav1.StatusReason, by the code that API servers give it. */
const reasons: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Expired",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

export const statusObject = (code: number, message?: string, details?: object): object => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: message ?? `this is a fault: ${reasons[code] ?? "unknown"}`,
  reason: reasons[code],
  details,
  code,
});

/** Sends a Status, and returns its Retry-After header; undefined without one. */
export function sendStatus(
  response: ServerResponse,
  { status, retryAfter, message }: Omit<RefuseFault, "do">,
): string | undefined {
  const header = retryAfterHeader(retryAfter);
  const isSeconds = header !== undefined && /^\d+$/.test(header);
  const details = isSeconds ? { retryAfterSeconds: Number(header) } : undefined;
  if (header !== undefined) response.setHeader("retry-after", header);
  sendJson(response, status, JSON.stringify(statusObject(status, message, details)));
  return header;
}

function retryAfterHeader(retryAfter: RefuseFault["retryAfter"]): string | undefined {
  if (typeof retryAfter !== "object") return retryAfter?.toString();
  return new Date(Date.now() + retryAfter.date * 1_000).toUTCString();
}

/** Answers with a body that is declared as JSON. */
export const sendJson = (response: ServerResponse, status: number, body: string | Buffer): void =>
  void response.writeHead(status, { "content-type": json }).end(body);

export const garbage = "\u0000\u0007}{ this is no JSON [[[";
const html = "<!doctype html><html><body><h1>It works!</h1></body></html>";

/** Answers 200 with a body that no API server sends. */
export function sendGarbage(response: ServerResponse, of: Extract<CallFault, { do: "garbage" }>["of"]): void {
  const [type, body] = { html: ["text/html", html], bytes: [json, garbage], nothing: [json, ""] }[of];
  response.writeHead(200, { "content-type": type }).end(body);
}

const json = "application/json";
