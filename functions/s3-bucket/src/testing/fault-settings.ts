/**
 * # Does a crash leave a setting half-way?
 *
 *     npm run buckets:faults -- policy cors
 *
 * Each setting is written, changed and removed, once without a fault and once with each fault that can be derived from
 * that. Every plan must end with the same bucket, as the bare SDK reads it. Without names: all settings that the S3 server
 * of the tests has and can remove without a trace.
 */
import { testFaults } from "@drover/testing";
import { settingsChanged } from "../bucket.faults.ts";
import { settingSamples } from "./samples/setting-samples.ts";

/** Left out: S3 keeps a trace of these when they are removed, or the server lacks them. */
const others = [
  ...["versioning", "accelerate", "objectLockConfiguration", "replication"],
  ...["analytics", "intelligentTiering", "inventory", "metrics", "requestPayment"],
];
const asked = process.argv.slice(2);
const samples = settingSamples.filter(({ name }) =>
  asked.length === 0 ? !others.includes(name) : asked.includes(name),
);

let [all, different] = [0, 0];
for (const sample of samples) {
  const { problems, plans } = await testFaults(settingsChanged([sample]));
  const wrong = plans.filter(({ outcome }) => outcome !== "same");
  console.log(
    `${sample.name}: ${plans.length - wrong.length} of ${plans.length} plans are as without a fault`,
  );
  for (const problem of problems) console.log(`  ${problem}`);
  for (const { outcome, description, differences } of wrong)
    console.log([`  ${outcome}: ${description}`, ...differences].join("\n    "));
  all += plans.length;
  different += wrong.length + problems.length;
}
console.log(`${all} plans for ${samples.length} settings: ${different} differ`);
process.exit(different === 0 ? 0 : 1);
