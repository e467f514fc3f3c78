import { readLines } from "@drover/testing/fault-proxy";
import type { IncomingMessage } from "node:http";
import { addAbortSignal } from "node:stream";
import { z } from "zod";
import type { Api } from "./api.ts";

const event = z.object({
  type: z.enum(["ADDED", "MODIFIED", "DELETED"]),
  object: z.looseObject({ metadata: z.looseObject({ resourceVersion: z.string() }) }),
});

export type WatchEvent = z.output<typeof event>;

/**
 * Takes the events of a watch, and resumes it when it ends: the API server ends the watch of a client that is slow for
 * a moment. What is there at first comes in no order; if the watch ends amid that, the rest is missed.
 *
 * Rejects when it cannot go on, when `take` throws, and when `signal` aborts.
 * @param path of a collection; it may have a query.
 */
export async function followWatch(
  api: Api,
  path: string,
  take: (event: WatchEvent) => void,
  signal: AbortSignal,
): Promise<never> {
  const asked = `${path}${path.includes("?") ? "&" : "?"}watch=1&timeoutSeconds=86400`;
  for (let version = ""; ;) {
    const answer = addAbortSignal(
      signal,
      await api.open(`${asked}&resourceVersion=${version}`, "application/json"),
    );
    for await (const line of linesOf(answer)) {
      const parsed = event.safeParse(JSON.parse(line));
      // An ERROR event contains its reason.
      if (!parsed.success) throw new Error(`The watch of ${path} cannot go on: ${line}`);
      version = parsed.data.object.metadata.resourceVersion;
      take(parsed.data);
    }
    signal.throwIfAborted();
  }
}

/** The complete lines, until the answer ends or is cut: the next request gets the rest. */
async function* linesOf(answer: IncomingMessage): AsyncGenerator<string> {
  try {
    yield* readLines(answer);
  } catch {
    return;
  }
}
