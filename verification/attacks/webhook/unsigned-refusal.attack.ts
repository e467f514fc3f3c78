import { TerminalError } from "@drover/controller";
import { type Attack, outcomeOf } from "../attack.ts";
import { callOf } from "./answering.ts";

/** Any Pod that the Service selects for a moment, or a machine on the way, can answer so. */
export const attack: Attack = {
  name: "no unsigned status parks a key",
  kind: "unsigned decision",
  needs: [],
  async run() {
    const parked: string[] = [];
    for (let status = 400; status < 600; status += 1) {
      const came = await callOf({ status, body: '{"message":"no"}', isSigned: false });
      if (came instanceof TerminalError) parked.push(`${status} parks`);
    }
    return outcomeOf(parked, "an unsigned answer parks the key with none of 200 statuses");
  },
};
