import { ListBucketsCommand, type S3Client } from "@aws-sdk/client-s3";
import { type S3Server, startS3 } from "@drover/local-servers";
import { faultScenario, type OutsideWorld, type Scenario } from "@drover/testing";
import deployedAs from "./function.ts";
import { bucketManifest, keysManifest, startBuckets } from "./testing/bucket-cluster.ts";
import type { SettingSample } from "./testing/samples/setting-sample.ts";
import { bucketHandle, s3ClientOf } from "./testing/bucket-handle.ts";
import { s3ConfigurationsStub } from "./testing/s3-configurations-stub.ts";
import { startS3FaultProxy } from "./testing/s3-fault-proxy.ts";

/**
 * One server for all runs of a scenario, emptied before each, because it takes a second to start. It ends with this
 * process.
 */
let server: Promise<S3Server> | undefined;

async function emptyS3(
  samples: readonly SettingSample[] = [],
): Promise<OutsideWorld & { readonly s3: S3Client }> {
  const started = await (server ??= startS3());
  await fetch(`${started.url}/moto-api/reset`, { method: "POST" });
  // Injects no faults: it only adds the part of S3 that the server lacks.
  const front = await startS3FaultProxy(started.url, { stub: s3ConfigurationsStub(), recordsCalls: false });
  const s3 = s3ClientOf({ ...started, url: front.url });
  for (const { prepare } of samples) await prepare?.(s3);
  return {
    s3,
    urls: { s3: front.url },
    state: () => bucketsIn(s3, samples),
    async close() {
      s3.destroy();
      await front.close();
    },
  };
}

async function bucketsIn(s3: S3Client, samples: readonly SettingSample[]): Promise<unknown> {
  const { Buckets = [] } = await s3.send(new ListBucketsCommand({}));
  const found = Buckets.map(async ({ Name = "" }) => {
    const { versioning = "never", tags } = (await bucketHandle(s3, Name).state()) ?? {};
    const settings = samples.map(async ({ name, read }) => [name, (await read(s3, Name)) ?? null] as const);
    return [Name, { versioning, tags, ...Object.fromEntries(await Promise.all(settings)) }] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

const bucket = (spec: object) => bucketManifest("a", spec);
const goes = { delete: { apiVersion: "s3.drover.dev/v1alpha1", kind: "Bucket", name: "a" } };

export const madeAndDeleted = faultScenario({
  name: "a bucket is made, changes, and is deleted with its object",
  start: startBuckets,
  deployedAs,
  outside: () => emptyS3(),
  given: [keysManifest],
  steps: [
    { apply: bucket({ onDelete: "Delete", tags: { team: "a" } }) },
    { apply: bucket({ onDelete: "Delete", tags: { team: "b" }, versioning: "Enabled" }) },
    goes,
  ],
});

export const adoptedAndRetained = faultScenario({
  name: "a bucket is adopted, and stays when its object goes",
  start: startBuckets,
  deployedAs,
  given: [keysManifest],
  except: { "step 3 with no run after step 2": "what is let go of keeps the tags that it had" },
  async outside() {
    const world = await emptyS3();
    await bucketHandle(world.s3, "pastures").make();
    return world;
  },
  steps: [
    { apply: bucket({ bucketName: "pastures", adopt: "IfUnowned", tags: { team: "a" } }) },
    { apply: bucket({ bucketName: "pastures", adopt: "IfUnowned", tags: { team: "b" } }) },
    goes,
  ],
});

/** The plans of a setting that must reach another end, and why. */
const exceptions: Partial<Record<SettingSample["name"], Scenario["except"]>> = {
  encryption: { "step 3 with no run after step 2": "AES256 is also what a bucket has without the setting" },
  accelerate: { "step 3 with no run after step 2": "a bucket that was never accelerated has no status" },
};

/**
 * The second value comes first: `Suspended` is not written to a bucket that was never accelerated, so all plans that skip
 * `Enabled` before it would need an exception.
 */
const reversed: readonly SettingSample["name"][] = ["accelerate"];

/** Settings are written, changed and removed. */
export const settingsChanged = (samples: readonly SettingSample[]) => {
  const named = (which: 0 | 1) =>
    Object.assign(
      {},
      ...samples.map(({ name, specs }) => (reversed.includes(name) ? specs.toReversed() : specs)[which]),
    ) as object;
  return faultScenario({
    name: `${samples.map(({ name }) => name).join(" and ")} of a bucket is written, changed, and removed`,
    start: startBuckets,
    deployedAs,
    outside: () => emptyS3(samples),
    given: [keysManifest],
    except: Object.assign({}, ...samples.map(({ name }) => exceptions[name])) as NonNullable<
      Scenario["except"]
    >,
    steps: [{ apply: bucket(named(0)) }, { apply: bucket(named(1)) }, { apply: bucket({}) }],
  });
};

export default madeAndDeleted;
