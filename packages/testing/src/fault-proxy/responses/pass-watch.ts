import type { Milliseconds } from "@drover/controller";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { brokenEvents, isEndOfList, type PassedLines, typeOfEvent, wrongEnd } from "./broken-events.ts";
import type { ProxiedCall } from "../calls/proxied-call.ts";
import type { EventFault, SpoiledList, WatchedEvent } from "../plan/faults.ts";
import { readLines } from "./read-lines.ts";
import { writeChunk } from "./write-chunk.ts";
import { statusObject } from "./wrong-responses.ts";

/** A watch that runs through the proxy. */
export interface ProxiedWatch {
  readonly call: ProxiedCall;
  /** Ends it: in order, by a reset, or with the error that it has expired. */
  end(how: "end" | "reset" | "410"): void;
}

export interface PassWatchOptions {
  readonly call: ProxiedCall;
  readonly from: IncomingMessage;
  readonly to: ServerResponse;
  /** Bytes in a piece; 0: a line is one piece. */
  readonly pieces: number;
  /** Chooses the fault of an event. */
  readonly fault: (event: WatchedEvent) => EventFault | undefined;
  /** The fault at the end of the list that it begins with. */
  readonly end: SpoiledList["how"] | undefined;
  /** True if the client process is over, so that nothing more may be sent to it. */
  readonly hasEnded: () => boolean;
  readonly sleep: (time: Milliseconds) => Promise<void>;
  readonly running: Set<ProxiedWatch>;
}

/** Passes the server's lines on until the server or the client ends the watch, or a fault does. */
export async function passWatch(passing: PassWatchOptions): Promise<void> {
  const { from, to, running } = passing;
  let silent = false;
  const watch: ProxiedWatch = {
    call: passing.call,
    end(how) {
      running.delete(watch);
      if (how === "410") to.write(`${JSON.stringify({ type: "ERROR", object: statusObject(410) })}\n`);
      if (how === "reset") to.destroy();
      // Only the client ends a watch that has fallen silent.
      else if (!silent) to.end();
      from.destroy();
    },
  };
  running.add(watch);
  to.once("close", () => from.destroy());
  try {
    const then = await passLines(passing);
    if (then === "fall silent") {
      silent = true;
      running.delete(watch);
      await once(to, "close");
    } else if (then !== "go on") watch.end(then);
  } catch {
    // The server broke the watch off, or the proxy did because the client had gone: break off the client's end, too.
    if (!silent) to.destroy();
  } finally {
    running.delete(watch);
    if (!silent) to.end();
  }
}

/** Passes lines until the server's end, or until a fault ends the watch. */
async function passLines(passing: PassWatchOptions): Promise<PassedLines["then"]> {
  const { from, to, pieces, fault, end, hasEnded, sleep } = passing;
  const events = brokenEvents();
  let isListed = /(^|&)sendInitialEvents=(true|1)/.test(passing.call.query);
  for await (const line of readLines(from)) {
    if (to.writableEnded || to.destroyed) return "go on";
    if (hasEnded()) return "fall silent";
    const type = typeOfEvent(line);
    const met = type === undefined ? undefined : fault({ type, line, isListed });
    if (met?.do === "delay") await sleep(met.for);
    const atEnd = isEndOfList(line);
    if (atEnd) isListed = false;
    const {
      lines,
      rest = "",
      then,
    } = atEnd && end !== undefined ? wrongEnd(end, line) : events.pass(line, met);
    await send(to, lines.map((each) => `${each}\n`).join("") + rest, pieces);
    if (then !== "go on") return then;
  }
  return "go on";
}

/** Sends pieces that may end within a line or a character. Waits while the client does not read. */
async function send(to: ServerResponse, text: string, size: number): Promise<void> {
  const bytes = Buffer.from(text);
  const step = size === 0 || bytes.length > 2 ** 16 ? Math.max(1, bytes.length) : size;
  for (let at = 0; at < bytes.length && !to.destroyed; at += step) {
    await writeChunk(to, bytes.subarray(at, at + step));
    // One turn of the event loop, so that the next piece is sent separately.
    if (size > 0) await new Promise((resolve) => setImmediate(resolve));
  }
}
