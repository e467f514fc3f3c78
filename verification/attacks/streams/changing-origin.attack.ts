import type { Attack } from "../attack.ts";
import { configMaps, configMapsOfDefault, named, stageBridge, within } from "./bridge-stage.ts";

/** How often the attacker makes its queue another one, and how many lists that may cost others. */
const rewrites = 40;
const most = 7;

export const attack: Attack = {
  name: "a function that keeps making its queue another one does not have the stream of others listed again and again",
  kind: "shared fate",
  needs: ["redis"],
  slow: true,
  async run({ redis, signal }) {
    const functions = ["evil", "victim"].map((name) => ({ name, for: configMaps }));
    await using stage = await stageBridge(redis().url, functions, "evil");
    await stage.startBridge();
    await stage.create(configMapsOfDefault, named("before"));
    if (!(await within(15, async () => (await stage.wakes("victim", "before")) > 0)))
      throw new Error("The bridge woke nothing before the attack.");
    const before = stage.listings("configmaps");
    for (let i = 0; i < rewrites && !signal.aborted; i++) {
      await stage.attacker.hset(stage.control, "era", `forged-${i}`, "origin", `forged-${i}`);
      await within(0.5, () => Promise.resolve(signal.aborted));
    }
    const cost = stage.listings("configmaps") - before;
    return {
      succeeded: cost > most,
      evidence: `${rewrites} origins in ${rewrites / 2} s: the stream was listed ${cost} times`,
    };
  },
};
