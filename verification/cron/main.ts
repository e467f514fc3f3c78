/**
 * The times of random schedules in random time zones, as the function for CronJobs finds them and as robfig/cron in Go does:
 *
 *     npm run cron -- --schedules 100000 --seed 1
 */
import { parseArgs } from "node:util";
import { wholeNumber } from "../harness/whole-number.ts";
import { compareSchedules } from "./compare-schedules.ts";

const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "100000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const [schedules, seed] = [wholeNumber("schedules", values.schedules, 1), wholeNumber("seed", values.seed)];
const { differing, times, refused, leftOut } = await compareSchedules(schedules, seed);
for (const one of differing.slice(0, 10)) console.log(JSON.stringify(one));
console.log(`Left out, since the time zone databases differ: ${leftOut.join(", ")}`);
console.log(
  `${schedules} schedules, seed ${seed}: ${differing.length} differ; ${times} times, ${refused} refused`,
);
process.exit(differing.length === 0 ? 0 : 1);
