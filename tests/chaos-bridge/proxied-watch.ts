import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type FrameFaults, isEndOfList, type Passing, wrongEnd } from "./frame-faults.ts";
import { linesOf } from "./lines-of.ts";
import type { EndOfStream, FrameFaultKind } from "./schedule.ts";
import { statusObject } from "./wrong-answers.ts";

/** A watch that runs through the proxy. */
export interface ProxiedWatch {
  /** Ends it: in order, by a reset, or by saying that it has expired. */
  end(how: "end" | "reset" | "410"): void;
}

/** Passes the server's lines on, for as long as both sides want; resolves when one of them does not any more. */
export async function passWatch(options: {
  readonly from: IncomingMessage;
  readonly to: ServerResponse;
  /** Bytes in a piece; 0: a line is one piece. */
  readonly pieces: number;
  readonly frames: FrameFaults;
  readonly fault: () => FrameFaultKind | undefined;
  /** What is wrong with the end of the list that it begins with. */
  readonly end?: EndOfStream | undefined;
  /** Told of every line that came from the server. */
  readonly onLine: (line: string) => void;
  readonly running: Set<ProxiedWatch>;
}): Promise<void> {
  const { from, to, pieces, frames, fault, end, onLine, running } = options;
  let silent = false;
  const watch: ProxiedWatch = {
    end(how) {
      running.delete(watch);
      if (how === "410") to.write(`${JSON.stringify({ type: "ERROR", object: statusObject(410) })}\n`);
      if (how === "reset") to.destroy();
      // One that has fallen silent is not ended by anybody but the bridge.
      else if (!silent) to.end();
      from.destroy();
    },
  };
  running.add(watch);
  to.once("close", () => from.destroy());
  try {
    for await (const line of linesOf(from)) {
      if (to.writableEnded || to.destroyed) break;
      onLine(line);
      const passing: Passing =
        end !== undefined && isEndOfList(line) ? wrongEnd(end, line) : frames.pass(line, fault);
      await send(to, passing.lines.map((each) => `${each}\n`).join("") + (passing.rest ?? ""), pieces);
      if (passing.then === "go on") continue;
      if (passing.then === "fall silent") {
        silent = true;
        running.delete(watch);
        await once(to, "close");
      } else watch.end(passing.then);
      break;
    }
  } catch {
    // The server broke it off, or we did since the bridge had: so does the bridge's end.
    if (!silent) to.destroy();
  } finally {
    running.delete(watch);
    if (!silent) to.end();
  }
}

/** In pieces that care for neither lines nor letters; waits where the other side does not read. */
async function send(to: ServerResponse, text: string, size: number): Promise<void> {
  const bytes = Buffer.from(text);
  const step = size === 0 || bytes.length > 2 ** 16 ? Math.max(1, bytes.length) : size;
  for (let at = 0; at < bytes.length && !to.destroyed; at += step) {
    if (!to.write(bytes.subarray(at, at + step))) {
      await Promise.race([once(to, "drain"), once(to, "close")]).catch(() => undefined);
    }
    // A turn of the loop, so that the next piece is one of its own.
    if (size > 0) await new Promise((resolve) => setImmediate(resolve));
  }
}
