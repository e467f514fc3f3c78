import { countForgeries } from "../../forgeries/count-forgeries.ts";
import type { Attack } from "../attack.ts";

const count = 20_000;

export const attack: Attack = {
  name: "no call, answer, completion or event with one byte changed is accepted",
  kind: "forgery",
  needs: [],
  async run() {
    const { accepted, ways } = await countForgeries({ count, seed: 11 });
    return {
      succeeded: accepted.length > 0,
      evidence: accepted[0] ?? `${count} forged in ${ways} ways, 0 accepted`,
    };
  },
};
