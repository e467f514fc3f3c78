import { type Attack, outcomeOf } from "../attack.ts";
import { callOf } from "./answering.ts";
import { failure } from "./listeners.ts";

/** A machine in the middle replaces the status line of a signed failure; body and signature stay. */
export const attack: Attack = {
  name: "a status line that was rewritten in transit does not turn a signed failure into a success",
  kind: "unsigned decision",
  needs: [],
  async run() {
    const accepted: string[] = [];
    for (const status of [failure.status, 200, 201, 202, 409, 503]) {
      const came = await callOf({ ...failure, status, isSigned: true });
      if (!(came instanceof Error)) accepted.push(`a success with ${status}`);
    }
    return outcomeOf(
      accepted,
      `a failure that was signed with ${failure.status} was a success with no status`,
    );
  },
};
