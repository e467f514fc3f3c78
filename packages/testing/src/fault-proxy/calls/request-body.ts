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
 * The body as JSON; undefined if it is not JSON. The content type is ignored: `kubectl apply` declares its JSON as
 * YAML.
 */
export function jsonOf(body: Buffer | IncomingMessage): unknown {
  if (!Buffer.isBuffer(body) || body.length === 0) return undefined;
  try {
    const json: unknown = JSON.parse(body.toString());
    return json;
  } catch {
    return undefined;
  }
}
