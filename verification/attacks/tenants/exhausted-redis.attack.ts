import { openStage } from "../../hostile-function/stage.ts";
import type { Attack } from "../attack.ts";
import { within } from "../streams/bridge-stage.ts";

const changes = 20;

export const attack: Attack = {
  name: "a function that uses up memory and connections of its tenant's Redis stops no other tenant",
  kind: "shared fate",
  needs: [],
  async run({ signal }) {
    await using stage = await openStage(false);
    await stage.react(0);
    const stop = await stage.turnHostile(1);
    if (!(await within(30, () => stage.isExhausted())))
      throw new Error("The hostile function did not use up its Redis.");
    let reached = 0;
    for (let i = 0; i < changes && !signal.aborted; i++) {
      let isReached = false;
      void stage.react(i).then(() => (isReached = true));
      if (!(await within(15, () => Promise.resolve(isReached)))) break;
      reached += 1;
    }
    await stop();
    const trespasses = await stage.trespasses();
    return {
      succeeded: reached < changes || trespasses.length > 0,
      evidence: [`of ${changes} changes the neighbour's runs began for ${reached}`, ...trespasses].join("; "),
    };
  },
};
