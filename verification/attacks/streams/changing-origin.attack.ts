import type { Attack } from "../attack.ts";
import { stageServedVictim, within } from "./bridge-stage.ts";

/** How often the attacker makes its queue another one, and how many lists that may cost others. */
const changes = 40;
const most = 7;

export const attack: Attack = {
  name: "a function that keeps changing its queue's incarnation does not cause repeated lists for other functions",
  kind: "shared fate",
  needs: ["redis"],
  slow: true,
  async run({ redis, signal }) {
    await using stage = await stageServedVictim(redis().url);
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
    await stage.createMap("after");
    const isServed = await stage.isWoken("victim", "after");
    return {
      succeeded: cost > most || !isServed,
      evidence: `${changes} origins in ${changes / 2} s: the stream was listed ${cost} times; the other was woken: ${isServed}`,
    };
  },
};
