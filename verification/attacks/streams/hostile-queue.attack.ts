import type { Attack } from "../attack.ts";
import { configMaps, configMapsOfDefault, named, stageBridge, within } from "./bridge-stage.ts";

export const attack: Attack = {
  name: "a queue that its own function has poisoned stops no other function",
  kind: "shared fate",
  needs: ["redis"],
  async run({ redis }) {
    const functions = ["evil", "victim"].map((name) => ({ name, for: configMaps }));
    await using stage = await stageBridge(redis().url, functions, "evil");
    await stage.startBridge();
    await stage.create(configMapsOfDefault, named("before"));
    const woken = (queue: string, name: string) =>
      within(15, async () => (await stage.wakes(queue, name)) > 0);
    if (!(await woken("victim", "before")) || !(await woken("evil", "before")))
      throw new Error("The bridge woke neither queue before the attack.");
    await stage.attacker.hset(stage.control, "schema", 999);
    await stage.create(configMapsOfDefault, named("during"));
    await within(2, async () => (await stage.wakes("victim", "during")) > 0);
    await stage.create(configMapsOfDefault, named("later"));
    const isWoken = await woken("victim", "later");
    const wakes = await stage.wakes("victim", "later");
    return {
      succeeded: !isWoken,
      evidence: `wakes of the victim's queue for an object made after the attack, within 15 s: ${wakes}`,
    };
  },
};
