import { defineController } from "drover";
import { Greeting } from "./greeting.ts";

/**
 * Moves one object towards its spec. It may be called at any time, for any reason, and any number of times: read the
 * current state, and change only what differs.
 *
 * - If it throws, the run is tried again with backoff. After a TerminalError it is not, until the object changes.
 * - If it creates anything outside the cluster, define `finalize` to remove that.
 */
export const controller = defineController({
  for: Greeting,
  resyncEvery: "1h",
  async reconcile({ key, spec, log }) {
    const text = `Hello, ${spec.name}!`;
    log.info({ key }, "Greeted");
    return { status: { text: spec.loudly ? text.toUpperCase() : text } };
  },
});
