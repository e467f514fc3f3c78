import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";

/** API servers accept no more than 3 MiB. */
const small = 4 * 2 ** 20;

/** The body of a request: a buffer if it is small, else the stream. */
export async function requestBody(request: IncomingMessage): Promise<Buffer | IncomingMessage> {
  const length = Number(request.headers["content-length"] ?? 0);
  if (length > small || request.headers["transfer-encoding"] !== undefined) return request;
  return buffer(request);
}

/**
 * The body as JSON, or the fields of a form; undefined if it is neither. Only a form needs its content type: `kubectl
 * apply` declares its JSON as YAML.
 */
export function valueOf(body: Buffer | IncomingMessage, contentType: string | undefined): unknown {
  if (!Buffer.isBuffer(body) || body.length === 0) return undefined;
  if (contentType?.startsWith("application/x-www-form-urlencoded")) {
    return Object.fromEntries(new URLSearchParams(body.toString()));
  }
  try {
    const json: unknown = JSON.parse(body.toString());
    return json;
  } catch {
    return undefined;
  }
}
