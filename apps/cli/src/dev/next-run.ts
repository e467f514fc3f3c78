import { type WorkQueue, withReplyTimeout } from "@drover/queue";
import { type Milliseconds, type QueueName, tryParseObjectKey } from "@drover/controller";
import { shortDuration } from "../short-duration.ts";

/** Later lines wait for this one, and a command waits for as long as Redis is away. */
const replyTimeout: Milliseconds = 2_000;

/** When a key runs next, by its queue. Empty if the queue does not answer, or is closed. */
export async function nextRunOf(
  bridge: { readonly queueOf: (queue: QueueName) => WorkQueue },
  name: QueueName,
  text: string,
): Promise<string> {
  const key = tryParseObjectKey(text);
  if (key === undefined) return "";
  try {
    const queue = bridge.queueOf(name);
    const [{ key: report }, { now }] = await withReplyTimeout(
      replyTimeout,
      Promise.all([queue.inspect(key), queue.notRunSince([], 0)]),
    );
    switch (report.state) {
      case "waits": {
        const words = report.why === "backoff" ? "next attempt in" : "next run in";
        return `${words} ${shortDuration(report.at - now)}`;
      }
      case "parked":
        return "no further attempt until it changes";
      case "idle":
      case "unknown":
        return "no further run until it changes";
      case "paused":
        return "it is paused";
      case "leased":
      case "ready":
      case "dispatched":
        return "next run at once";
    }
  } catch {
    return "";
  }
}
