import type { Attack } from "../attack.ts";
import { stageServedVictim } from "./bridge-stage.ts";

export const attack: Attack = {
  name: "a queue that its own function has poisoned stops no other function",
  kind: "shared fate",
  needs: ["redis"],
  async run({ redis }) {
    await using stage = await stageServedVictim(redis().url);
    await stage.attacker.hset(stage.control, "schema", 999);
    await stage.createMap("during");
    await stage.isWoken("victim", "during", 2);
    await stage.createMap("later");
    const isWoken = await stage.isWoken("victim", "later");
    const wakes = await stage.wakes("victim", "later");
    return {
      succeeded: !isWoken,
      evidence: `wakes of the victim's queue for an object made after the attack, within 15 s: ${wakes}`,
    };
  },
};
