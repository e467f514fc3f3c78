import { messageOf } from "@drover/controller";
import type { Narrator } from "./narrator.ts";
import { seconds } from "./narrator.ts";

/** Something that was started, and is stopped at the end. */
export interface Opened {
  /** What a person calls it. */
  readonly name: string;
  readonly stop: () => Promise<void>;
}

/** Stops everything, what was opened last first, and says so. One that fails does not keep the others. */
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
