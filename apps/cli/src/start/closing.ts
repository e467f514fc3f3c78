import { messageOf } from "@drover/controller";
import type { Narrator } from "./narrator.ts";
import { seconds } from "./narrator.ts";

/** A part that was started, to be stopped at the end. */
export interface Opened {
  /** The part's name in messages. */
  readonly name: string;
  readonly stop: () => Promise<void>;
}

/** Stops all parts in reverse order, and reports each. Continues after a failure, and then returns false. */
export async function closeInOrder(opened: readonly Opened[], { say }: Narrator): Promise<boolean> {
  let clean = true;
  for (const { name, stop } of [...opened].reverse()) {
    const begun = performance.now();
    try {
      await stop();
      say(`Stopped: ${name} (${seconds(performance.now() - begun)})`);
    } catch (error) {
      clean = false;
      say(`Could not stop ${name}: ${messageOf(error)}`, "bad");
    }
  }
  return clean;
}
