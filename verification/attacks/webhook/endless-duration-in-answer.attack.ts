import type { Attack } from "../attack.ts";
import { callOf } from "./answering.ts";
import { endlessAnswer } from "./listeners.ts";
import { costOfDigits } from "./spent.ts";

/** A tenant's function signs what it likes, and the gateway is everyone's. */
export const attack: Attack = {
  name: "a signed answer with a duration of endless digits costs the gateway no more than its bytes",
  kind: "shared fate",
  needs: [],
  run: () =>
    costOfDigits((duration) => callOf({ status: 200, isSigned: true, body: endlessAnswer(duration) })),
};
