/** Random declared children with every derived fault, in the sandbox: `npm run faults:composed -- --plans 10000 --seed 1`. */
import { reportFaults } from "@drover/testing";
import { parseArgs } from "node:util";
import { randomScenario } from "./random-scenario.ts";

const { values } = parseArgs({
  options: {
    plans: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
  },
});
const [wanted, first] = [Number(values.plans), Number(values.seed)];
if (![wanted, first].every(Number.isSafeInteger)) {
  console.error("Give whole numbers: --plans 1000 --seed 1.");
  process.exit(2);
}

let [plans, different, seed] = [0, 0, first];
for (; plans < wanted; seed++) {
  const counts = await reportFaults([randomScenario(seed)], (text) => console.log(text));
  plans += counts.plans;
  different += counts.different;
}
console.log(`${plans} plans of ${seed - first} scenarios, seeds from ${first}: ${different} differ`);
process.exitCode = different === 0 ? 0 : 1;
