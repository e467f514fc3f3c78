import { floodAttack } from "./flood.ts";
import { startHooks } from "./listeners.ts";

export const attack = floodAttack(
  { name: "ten thousand connections from one address stop no other sender", slow: true },
  startHooks,
  10_000,
);
