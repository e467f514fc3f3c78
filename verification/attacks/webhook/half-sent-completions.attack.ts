import { floodAttack } from "./flood.ts";
import { startCompletions } from "./listeners.ts";

export const attack = floodAttack(
  { name: "a hundred half-sent unsigned completions stop no other function" },
  startCompletions,
  100,
);
