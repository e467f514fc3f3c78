import { countForgeries } from "../../forgeries/count-forgeries.ts";
import { type Attack, outcomeOf } from "../attack.ts";

const count = 20_000;

export const attack: Attack = {
  name: "no call, answer, completion or event with one byte changed is accepted",
  kind: "forgery",
  needs: [],
  async run() {
    const { accepted, ways } = await countForgeries({ count, seed: 11 });
    return outcomeOf(accepted.slice(0, 1), `${count} forged in ${ways} ways, 0 accepted`);
  },
};
