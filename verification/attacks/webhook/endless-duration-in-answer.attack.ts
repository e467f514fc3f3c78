import type { Attack } from "../attack.ts";
import { callOf } from "./answering.ts";
import { endlessAnswer } from "./listeners.ts";
import { spent, timesAsMuch } from "./spent.ts";

const length = 100_000;

/** A tenant's function signs what it likes, and the gateway is everyone's. */
export const attack: Attack = {
  name: "a signed answer with a duration of endless digits costs the gateway no more than its bytes",
  kind: "shared fate",
  needs: [],
  async run() {
    const call = (letters: string) => () =>
      callOf({ status: 200, isSigned: true, body: endlessAnswer(letters) });
    await call("1s")();
    const harmless = await spent(call("x".repeat(length)));
    const digits = await spent(call("1".repeat(length)));
    return {
      succeeded: timesAsMuch(digits, harmless) > 10,
      evidence: `${length} digits: ${digits.toFixed(0)} ms of the processor; as many letters: ${harmless.toFixed(0)} ms`,
    };
  },
};
