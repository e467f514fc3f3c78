import type { Attack } from "../attack.ts";
import { stageServedVictim, within } from "./bridge-stage.ts";

/** Objects made while the queue is poisoned and healed again and again. */
const objects = 20;
const second = 1_000;

export const attack: Attack = {
  name: "a queue that is poisoned and healed again and again slows no other function down",
  kind: "shared fate",
  needs: ["redis"],
  async run({ redis, signal }) {
    await using stage = await stageServedVictim(redis().url);
    const over = new AbortController();
    const isOver = (): boolean => over.signal.aborted || signal.aborted;
    const flapping = (async () => {
      while (!isOver()) {
        await stage.attacker.hset(stage.control, "schema", 999);
        await within(0.8, () => Promise.resolve(isOver()));
        await stage.attacker.hdel(stage.control, "schema");
        await within(0.3, () => Promise.resolve(isOver()));
      }
    })();
    let slowest = 0;
    for (let i = 0; i < objects; i++) {
      const begun = performance.now();
      await stage.createMap(`m${i}`);
      await stage.isWoken("victim", `m${i}`, 5);
      slowest = Math.max(slowest, performance.now() - begun);
    }
    over.abort();
    await flapping;
    return {
      succeeded: slowest > 0.5 * second,
      evidence: `the slowest of ${objects} wakes of the victim's queue came after ${Math.round(slowest)} ms`,
    };
  },
};
