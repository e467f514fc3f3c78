import { defineController } from "@drover/controller";
import { Greeting } from "./greeting.ts";

/**
 * Moves one object a step towards its spec. It may be called at any time, for any reason, and any number of times: look
 * at the world, and change what differs.
 *
 * - Throw an error, and it is tried again with backoff; a TerminalError waits for a change of the object.
 * - Make something outside the cluster, and `finalize` is where it is unmade.
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
