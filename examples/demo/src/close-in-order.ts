import { messageOf } from "@drover/controller";
import type { Narrator } from "./story/narrator.ts";
import { formatSeconds } from "./story/narrator.ts";

/** A part that was started, to be stopped at the end. */
export interface StoppablePart {
  /** The part's name in messages. */
  readonly name: string;
  readonly stop: () => Promise<void>;
}

/** Stops all parts in reverse order, and reports each. Continues after a failure, and then returns false. */
export async function closeInOrder(opened: readonly StoppablePart[], { print }: Narrator): Promise<boolean> {
  let clean = true;
  for (const { name, stop } of [...opened].reverse()) {
    const begun = performance.now();
    try {
      await stop();
      print(`Stopped: ${name} (${formatSeconds(performance.now() - begun)})`);
    } catch (error) {
      clean = false;
      print(`Could not stop ${name}: ${messageOf(error)}`, "bad");
    }
  }
  return clean;
}
