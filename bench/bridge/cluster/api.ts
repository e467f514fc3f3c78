import { readKubeconfig } from "@drover/real-cluster";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { text } from "node:stream/consumers";

/** The bench's own way to the API server: plain requests over kept connections, past everything that counts. */
export interface Api {
  /** @throws RefusedError for any answer but 2xx. A dropped connection, 429 and 5xx are tried again. */
  send(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: Body): Promise<string>;
  /** As `send`, with the answer as it comes. */
  open(path: string, accept: string): Promise<IncomingMessage>;
  close(): void;
}

interface Body {
  readonly type: "application/json" | "application/merge-patch+json" | "application/json-patch+json";
  readonly content: unknown;
}

export class RefusedError extends Error {
  override readonly name = "RefusedError";
  readonly status: number;
  constructor(what: string, status: number, answer: string) {
    super(`${what} was answered with ${status}: ${answer.slice(0, 500)}`);
    this.status = status;
  }
}

/** Of all that is asked for here. */
export const userAgent = "bench-bridge-harness";
const tries = 5;

export function openApi(kubeconfigFile: string): Api {
  const { url, ...tls } = readKubeconfig(kubeconfigFile);
  // More wait here: a server that is slow is not asked for thousands of handshakes, too.
  const agent = new Agent({ keepAlive: true, maxSockets: 128, ...tls });
  const ask = async (method: string, path: string, accept: string, body?: Body): Promise<IncomingMessage> => {
    const content = body === undefined ? "" : JSON.stringify(body.content);
    const sent = request(new URL(path, url), {
      agent,
      method,
      headers: {
        accept,
        "user-agent": userAgent,
        ...(body && { "content-type": body.type, "content-length": Buffer.byteLength(content) }),
      },
    });
    sent.end(content);
    const answer = Promise.withResolvers<IncomingMessage>();
    sent.on("response", answer.resolve).on("error", answer.reject);
    return answer.promise;
  };
  const accepted = async (...asked: Parameters<typeof ask>): Promise<IncomingMessage> => {
    const answer = await ask(...asked);
    const status = answer.statusCode ?? 0;
    if (status >= 200 && status <= 299) return answer;
    throw new RefusedError(`${asked[0]} ${asked[1]}`, status, await text(answer));
  };
  return {
    send: (method, path, body) =>
      patiently(async () => text(await accepted(method, path, "application/json", body))),
    open: (path, accept) => patiently(() => accepted("GET", path, accept)),
    close: () => agent.destroy(),
  };
}

async function patiently<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (tried === tries || !passes(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200 * tried));
    }
  }
}

const passes = (error: unknown): boolean =>
  error instanceof RefusedError ? error.status === 429 || error.status >= 500 : error instanceof Error;

const patience = 120_000;

/** Asks again until it is answered. The API server replaces a kind's handlers after its definition has changed. */
export async function until(ask: () => Promise<unknown>): Promise<void> {
  const over = performance.now() + patience;
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (performance.now() > over) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Calls `work` for 0 to `count` - 1, `atOnce` at a time. */
export async function inParallel(
  count: number,
  atOnce: number,
  work: (i: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane));
}
