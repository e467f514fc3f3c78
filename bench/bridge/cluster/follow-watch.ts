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
 * Takes what a watch tells, and goes on where it was when that ends: the API server ends the watch of whoever is slow for
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
      const heard = event.safeParse(JSON.parse(line));
      // An ERROR says in itself why it is one.
      if (!heard.success) throw new Error(`The watch of ${path} cannot go on: ${line}`);
      version = heard.data.object.metadata.resourceVersion;
      take(heard.data);
    }
    signal.throwIfAborted();
  }
}

/** Those that have come whole, until the answer ends or is cut. */
async function* linesOf(answer: IncomingMessage): AsyncGenerator<string> {
  const texts: AsyncIterable<string> = answer.setEncoding("utf8");
  let rest = "";
  try {
    for await (const text of texts) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } catch {
    // Cut: whoever asks again hears of the rest.
  }
}
