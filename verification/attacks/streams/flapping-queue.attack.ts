import type { Attack } from "../attack.ts";
import { configMaps, configMapsOfDefault, named, stageBridge, within } from "./bridge-stage.ts";

/** Objects made while the queue is poisoned and healed again and again. */
const objects = 20;
const second = 1_000;

export const attack: Attack = {
  name: "a queue that is poisoned and healed again and again slows no other function down",
  kind: "shared fate",
  needs: ["redis"],
  async run({ redis, signal }) {
    const functions = ["evil", "victim"].map((name) => ({ name, for: configMaps }));
    await using stage = await stageBridge(redis().url, functions, "evil");
    await stage.startBridge();
    await stage.create(configMapsOfDefault, named("before"));
    if (!(await within(15, async () => (await stage.wakes("victim", "before")) > 0)))
      throw new Error("The bridge woke nothing before the attack.");
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
      await stage.create(configMapsOfDefault, named(`m${i}`));
      await within(5, async () => (await stage.wakes("victim", `m${i}`)) > 0);
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
