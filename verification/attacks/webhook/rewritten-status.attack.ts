import type { Attack } from "../attack.ts";
import { callOf } from "./answering.ts";
import { failure } from "./listeners.ts";

/** Somewhere on the way the status line of a signed failure is written anew; its body and signature stay. */
export const attack: Attack = {
  name: "a status that was rewritten on the way makes no success of a signed failure",
  kind: "unsigned decision",
  needs: [],
  async run() {
    const believed: number[] = [];
    for (const status of [failure.status, 200, 201, 202, 409, 503]) {
      const came = await callOf({ ...failure, status, isSigned: true });
      if (!(came instanceof Error)) believed.push(status);
    }
    return {
      succeeded: believed.length > 0,
      evidence: `a failure that was signed, sent with ${failure.status}, was a success with: ${believed.join(", ") || "no status"}`,
    };
  },
};
