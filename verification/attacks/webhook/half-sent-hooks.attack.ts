import { floodAttack } from "./flood.ts";
import { startHooks } from "./listeners.ts";

export const attack = floodAttack(
  { name: "a hundred half-sent unsigned events stop no other sender" },
  startHooks,
  100,
);
