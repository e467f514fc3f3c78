import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";

/** API servers take no more than 3 MiB. */
const small = 4 * 2 ** 20;

/** What came with a request: whole where it is small, as it comes where it is not. */
export async function requestBody(request: IncomingMessage): Promise<Buffer | IncomingMessage> {
  const length = Number(request.headers["content-length"] ?? 0);
  if (length > small || request.headers["transfer-encoding"] !== undefined) return request;
  return buffer(request);
}

/** The JSON that it is; undefined where it is none. `kubectl apply` calls its JSON YAML, and JSON is. */
export function jsonOf(body: Buffer | IncomingMessage): unknown {
  if (!Buffer.isBuffer(body) || body.length === 0) return undefined;
  try {
    const json: unknown = JSON.parse(body.toString());
    return json;
  } catch {
    return undefined;
  }
}
