import { TerminalError } from "@drover/controller";
import type { Attack } from "../attack.ts";
import { callOf } from "./answering.ts";

/** Any Pod that the Service selects for a moment, or a machine on the way, can answer so. */
export const attack: Attack = {
  name: "no unsigned status parks a key",
  kind: "unsigned decision",
  needs: [],
  async run() {
    const parked: number[] = [];
    for (let status = 400; status < 600; status += 1) {
      const came = await callOf({ status, body: '{"message":"no"}', isSigned: false });
      if (came instanceof TerminalError) parked.push(status);
    }
    return {
      succeeded: parked.length > 0,
      evidence: `an unsigned answer parks the key with ${parked.length} of 200 statuses, such as: ${parked.slice(0, 5).join(", ") || "none"}`,
    };
  },
};
