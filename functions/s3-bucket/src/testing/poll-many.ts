/**
 * # Is a bucket that is as its spec asks only read, and how often?
 *
 *     npm run buckets:polled -- --buckets 1000 --polls 12
 *
 * Makes buckets with every setting on a real S3 server, then reconciles each as often as its poll interval of five minutes
 * asks in an hour, without waiting. A proxy counts the requests. Exits with 1 after any write, or if a run does not
 * ask for the next one after five minutes.
 */
import { parseArgs } from "node:util";
import { openBucketScene, readyOf, type TestBucket } from "./bucket-scene.ts";
import { settingSamples } from "./samples/setting-samples.ts";

const { values } = parseArgs({
  options: { buckets: { type: "string", default: "1000" }, polls: { type: "string", default: "12" } },
});
const scene = await openBucketScene("15s");
// An access control list and BucketOwnerEnforced exclude each other.
const samples = settingSamples.filter(({ name }) => name !== "acl");
for (const { prepare } of samples) await prepare?.(scene.withConfigurations);
const spec = Object.assign({}, ...samples.map(({ specs: [first] }) => first)) as object;
const objects = Array.from({ length: Number(values.buckets) }, () => scene.object(spec));

const atOnce = 8;
const each = async (act: (object: TestBucket) => Promise<unknown>): Promise<void> => {
  const rest = objects.values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const object of rest) await act(object);
    }),
  );
};
const problems: string[] = [];
await each(async (object) => {
  const ready = readyOf(await object.reconcileUntilStable());
  if (ready !== undefined) problems.push(ready.message);
});

const counts = new Map<string, number>();
let writes = 0;
for (let poll = 0; poll < Number(values.polls); poll++) {
  scene.proxy.forget();
  await each(async (object) => {
    const { requeueAfter } = await object.reconcile();
    if (requeueAfter !== "5m") problems.push(`The next run is asked for after ${requeueAfter}.`);
  });
  writes += scene.proxy.writes().length;
  for (const { operation } of scene.proxy.calls) counts.set(operation, (counts.get(operation) ?? 0) + 1);
}
const looks = objects.length * Number(values.polls);
const reads = [...counts.values()].reduce((sum, count) => sum + count, 0) / looks;
console.log([...counts].map(([operation, count]) => `${count / looks} ${operation}`).join(", "));
for (const problem of problems.slice(0, 3)) console.error(problem);
console.log(
  `${objects.length} buckets with ${samples.length} settings, ${looks} looks: ${writes} writes, ${reads} requests for each look`,
);
process.exitCode = writes === 0 && problems.length === 0 ? 0 : 1;
await scene.close();
