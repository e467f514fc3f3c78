/**
 * # Does a crash leave a setting half-way?
 *
 *     npm run buckets:faults -- policy cors
 *
 * Each setting is written, changed and removed, once without a fault and once with each fault that can be derived from
 * that. Every plan must end with the same bucket, as the bare SDK reads it. Without names: all settings.
 */
import { reportFaults } from "@drover/testing";
import { settingsChanged } from "../bucket.faults.ts";
import { settingSamples } from "./samples/setting-samples.ts";

const asked = process.argv.slice(2);
const samples = settingSamples.filter(({ name }) => asked.length === 0 || asked.includes(name));

const { plans, different } = await reportFaults(
  samples.map((sample) => settingsChanged([sample])),
  (text) => console.log(text),
);
console.log(`${plans} plans for ${samples.length} settings: ${different} differ`);
process.exit(different === 0 ? 0 : 1);
