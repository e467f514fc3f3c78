import type { Attack } from "../attack.ts";
import { configMaps, configMapsOfDefault, named, stageBridge, within } from "../streams/bridge-stage.ts";

const times = 6;

export const attack: Attack = {
  name: "a function that empties its own queue again and again does not have others' streams listed each time",
  kind: "shared fate",
  needs: ["redis"],
  async run({ redis }) {
    const functions = ["evil", "victim"].map((name) => ({ name, for: configMaps }));
    await using stage = await stageBridge(redis().url, functions, "evil");
    const { listings } = await stage.startBridge();
    await stage.create(configMapsOfDefault, named("before"));
    const woken = (queue: string, name: string) =>
      within(15, async () => (await stage.wakes(queue, name)) > 0);
    if (!(await woken("victim", "before")) || !(await woken("evil", "before")))
      throw new Error("The bridge woke neither queue before the attack.");
    const before = listings();
    for (let i = 0; i < times; i++) {
      await stage.attacker.del(stage.control);
      if (!(await within(15, async () => (await stage.attacker.exists(stage.control)) === 1)))
        throw new Error("The emptied queue was not begun anew.");
      await within(2, () => Promise.resolve(listings() - before > i));
    }
    const isWoken = await stage
      .create(configMapsOfDefault, named("after"))
      .then(() => woken("victim", "after"));
    const anew = listings() - before;
    return {
      succeeded: anew >= times || !isWoken,
      evidence: `emptied ${times} times; the stream was taken up anew ${anew} times; the other was woken: ${isWoken}`,
    };
  },
};
