/**
 * # Is a large bucket emptied, whatever its keys?
 *
 *     npm run buckets -- --keys 20000 --seed 1
 *
 * Fills a bucket on a real S3 server with keys of random Unicode, every fifth with a character that is hard, and with older
 * versions and delete markers; deletes its object as the queue would, and counts what the function asked of the server.
 * Exits with 1 when the bucket is still there, or anything was asked twice.
 */
import { parseArgs } from "node:util";
import { pseudoRandom } from "@drover/random";
import { isFinalized, openBucketScene } from "./bucket-scene.ts";
import { oddKeys, randomKeys } from "./odd-keys.ts";
import { storedItems } from "./stored-items.ts";

const { values } = parseArgs({
  options: { keys: { type: "string", default: "20000" }, seed: { type: "string", default: "1" } },
});
// moto copies all that is in a bucket for every page that it lists.
const scene = await openBucketScene("15s");
const object = scene.object({ onDelete: "Delete", emptyOnDelete: true });
const { bucket, bucketName } = object;
await object.reconcileUntilStable();

const keys = [
  ...oddKeys,
  ...randomKeys(Number(values.keys) - oddKeys.length, pseudoRandom(Number(values.seed)).fraction),
];
const each = async (some: readonly string[], act: (key: string) => Promise<unknown>): Promise<void> => {
  const rest = some.values();
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (const key of rest) await act(key);
    }),
  );
};
let begun = performance.now();
const seconds = (): string => `${((performance.now() - begun) / 1_000).toFixed(1)} s`;
await each(keys, bucket.put);
await bucket.setVersioning("Enabled");
await each(
  keys.filter((_, i) => i % 10 === 0),
  bucket.put,
);
await each(
  keys.filter((_, i) => i % 20 === 0),
  bucket.deleteObject,
);
const before = await storedItems(scene.server.url, bucketName);
console.log(
  `${keys.length} keys, ${before?.versions} versions and delete markers by the server's own listing, made in ${seconds()}`,
);

scene.proxy.forget();
begun = performance.now();
let runs = 1;
while (!(await isFinalized(object))) runs += 1;
const took = seconds();
const after = await storedItems(scene.server.url, bucketName);
const counts = new Map<string, number>();
for (const { operation } of scene.proxy.calls) counts.set(operation, (counts.get(operation) ?? 0) + 1);
const deletions = scene.proxy.calls.filter(({ operation }) => operation.startsWith("DeleteObject"));
const repeated = deletions.length - new Set(deletions.map(({ url, body }) => url + body)).size;
const named = deletions.reduce((sum, { operation, body }) => {
  return sum + (operation === "DeleteObject" ? 1 : (body.match(/<Object>/g)?.length ?? 0));
}, 0);
console.log([...counts].map(([operation, count]) => `${count} ${operation}`).join(", "));
console.log(
  `${after === undefined ? "gone" : "STILL THERE"} after ${runs} runs and ${took}; ` +
    `${named} items named in ${deletions.length} deletions, ${repeated} of them repeated`,
);
process.exitCode = after === undefined && repeated === 0 && named === before?.versions ? 0 : 1;
await scene.close();
