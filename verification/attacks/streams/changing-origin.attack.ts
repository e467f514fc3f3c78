import type { Attack } from "../attack.ts";
import { configMaps, configMapsOfDefault, named, stageBridge, within } from "./bridge-stage.ts";

/** How often the attacker makes its queue another one, and how many lists that may cost others. */
const changes = 40;
const most = 7;

export const attack: Attack = {
  name: "a function that keeps changing its queue's incarnation does not cause repeated lists for other functions",
  kind: "shared fate",
  needs: ["redis"],
  slow: true,
  async run({ redis, signal }) {
    const functions = ["evil", "victim"].map((name) => ({ name, for: configMaps }));
    await using stage = await stageBridge(redis().url, functions, "evil");
    await stage.startBridge();
    await stage.create(configMapsOfDefault, named("before"));
    const isWoken = (queue: string, name: string) =>
      within(15, async () => (await stage.wakes(queue, name)) > 0);
    if (!(await isWoken("victim", "before")) || !(await isWoken("evil", "before")))
      throw new Error("The bridge woke neither queue before the attack.");
    const before = stage.listings("configmaps");
    for (let i = 0; i < changes && !signal.aborted; i++) {
      // The next process creates an emptied queue again.
      if (i % 2 === 0) await stage.attacker.del(stage.control);
      else
        await stage.attacker.hset(
          stage.control,
          "incarnation",
          `forged-${i}`,
          "firstIncarnation",
          `forged-${i}`,
        );
      await within(0.5, () => Promise.resolve(signal.aborted));
    }
    const cost = stage.listings("configmaps") - before;
    await stage.create(configMapsOfDefault, named("after"));
    const isServed = await isWoken("victim", "after");
    return {
      succeeded: cost > most || !isServed,
      evidence: `${changes} origins in ${changes / 2} s: the stream was listed ${cost} times; the other was woken: ${isServed}`,
    };
  },
};
