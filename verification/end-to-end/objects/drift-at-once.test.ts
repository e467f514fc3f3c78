import { PutBucketPolicyCommand, PutBucketVersioningCommand } from "@aws-sdk/client-s3";
import { ReconcileFunction, silentLog } from "@drover/controller";
import { openWorkQueue } from "@drover/queue";
import { readFileSync } from "node:fs";
import { beforeEach, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { s3ClientOf } from "../../../functions/s3-bucket/src/testing/bucket-handle.ts";
import { type Manifest, namespaceNamed, secret } from "../../harness/manifests.ts";
import { openGate, type S3Call } from "../stage/s3-gate.ts";
import { bucket, eventually, isReady, loggedUrl, ofCluster, queueOf, worldOfFile } from "../stage/world.ts";
import { cloudTrailEvent } from "./cloudtrail-events.ts";

// The function, with the hook that an operator adds to it (docs/external-resources.md, Drift at once). The function is
// in another namespace than the Bucket.
const namespace = "storage";
const token = "a-token-that-only-eventbridge-has";
const deployed = (file: string): unknown =>
  parse(readFileSync(new URL(`../../../functions/s3-bucket/deploy/${file}`, import.meta.url), "utf8"));
const withSpec = z.looseObject({ spec: z.looseObject({}) });
const { metadata, spec, ...kind } = withSpec
  .extend({ apiVersion: z.string(), kind: z.string(), metadata: z.object({ name: z.string() }) })
  .parse(deployed("function.yaml"));
const withoutHook: Manifest = { ...kind, metadata: { ...metadata, namespace }, spec };
const withHook: Manifest = {
  ...withoutHook,
  spec: { ...spec, ...withSpec.parse(deployed("drift-at-once/hook.yaml")).spec },
};

const world = await worldOfFile(ReconcileFunction);
const { cluster } = world;
await cluster.apply(namespaceNamed(namespace));
await cluster.apply(withoutHook);
const queueName = await queueOf(world, withoutHook);
const redis = await world.connectRedis();
const queue = openWorkQueue({ redis, controller: queueName, log: silentLog });
world.atEnd(() => queue.close());
const s3 = s3ClientOf(world.s3);

/** Requests of the function to S3 since the test began. */
const calls: S3Call[] = [];
const gate = await openGate(world.s3.url, {
  before(call) {
    calls.push(call);
    return Promise.resolve(undefined);
  },
  after: () => Promise.resolve(undefined),
});
world.atEnd(() => gate.close());
await world.startWorker({ s3Url: gate.url, env: { DROVER_FUNCTION: `${namespace}/${metadata.name}` } });
const bridge = await world.startBridge({
  functions: ofCluster,
  awaited: "Accepting events",
  env: { DROVER_HOOKS_PORT: "0" },
});
const url = await loggedUrl(bridge, "hooks");
const hook = `${namespace}/${metadata.name}/cloudtrail`;

/** Sends an event as an API destination of EventBridge does, whose connection has an API key in Authorization. */
async function post(event: object, authorization = `Bearer ${token}`): Promise<number> {
  const { status } = await fetch(`${url}/hooks/${hook}`, {
    method: "POST",
    headers: { "content-type": "application/json; charset=utf-8", authorization },
    body: JSON.stringify(event),
  });
  return status;
}

/** How many events had this outcome, by the log of the bridge: its metrics are cached for a moment. */
const outcomes = (outcome: string): number =>
  readFileSync(bridge.logFile, "utf8").split(`"outcome":"${outcome}"`).length - 1;
const looks = (name: string) => calls.filter((call) => call.bucket === name && call.operation === "HEAD");
const writes = () => calls.filter(({ operation }) => !/^(GET|HEAD)/.test(operation));
/** Wakes of all keys. */
const wakes = async (): Promise<number> => {
  const keys = await redis.keys(`{drover:${queueName}}:key:*`);
  const each = await Promise.all(keys.map(async (key) => Number((await redis.hget(key, "wakes")) ?? 0)));
  return each.reduce((sum, count) => sum + count, 0);
};
const untilIdle = (): Promise<void> =>
  eventually(async () => expect(await queue.stats(5_000)).toMatchObject({ due: 0, running: 0 }));

const eventList = z.object({
  items: z.array(
    z.object({ reason: z.string(), note: z.string(), regarding: z.object({ name: z.string() }) }),
  ),
});
/** Notes of the Events that report drift of an object. */
async function driftOf(name: string): Promise<readonly string[]> {
  const { items } = eventList.parse(await cluster.read("/apis/events.k8s.io/v1/namespaces/default/events"));
  return items
    .filter(({ reason, regarding }) => reason === "Drifted" && regarding.name === name)
    .map(({ note }) => note);
}

const policyOf = (effect: "Allow" | "Deny") =>
  JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      {
        Sid: "Tls",
        Effect: effect,
        Principal: "*",
        Action: "s3:*",
        Resource: "arn:aws:s3:::photos/*",
        Condition: { Bool: { "aws:SecureTransport": "false" } },
      },
    ],
  });
const photos = bucket("photos", { pollInterval: "1h", versioning: "Enabled", policy: policyOf("Deny") });
const suspended = cloudTrailEvent({
  eventName: "PutBucketVersioning",
  bucketName: "photos",
  parameters: { versioning: "", VersioningConfiguration: { Status: "Suspended" } },
});
const suspend = () =>
  s3.send(
    new PutBucketVersioningCommand({ Bucket: "photos", VersioningConfiguration: { Status: "Suspended" } }),
  );

beforeEach(() => void (calls.length = 0));

it("a hook without its Secret refuses events for now, and the function works as before", async () => {
  await cluster.apply(withHook);
  await eventually(async () => expect(await post(suspended)).toBe(503));
  await world.applyReady(photos);
  await cluster.apply(secret("s3-cloudtrail", { token }, namespace));
  // The index of status.bucketName has the bucket a moment after the object is Ready.
  await eventually(async () => {
    expect(await post({ ...suspended, id: "first" })).toBe(204);
    expect(outcomes("accepted")).toBe(1);
  });
  await untilIdle();
});

it("a setting that is changed by hand is corrected when its event comes, an hour before the next poll", async () => {
  await suspend();
  expect(await driftOf("photos")).toEqual([]);
  expect(await post(suspended)).toBe(204);
  await eventually(async () => expect((await world.truth.bucket("photos"))?.versioning).toBe("Enabled"));
  await world.until(photos, isReady);
  await eventually(async () =>
    expect(await driftOf("photos")).toEqual([expect.stringMatching(/versioning.*Suspended.*Enabled/s)]),
  );
});

it("the event of that correction causes one look, and no write whose event could come next", async () => {
  await untilIdle();
  calls.length = 0;
  const own = cloudTrailEvent({
    eventName: "PutBucketVersioning",
    bucketName: "photos",
    parameters: { versioning: "", VersioningConfiguration: { Status: "Enabled" } },
  });
  expect(await post(own)).toBe(204);
  await eventually(() => expect(looks("photos")).toHaveLength(1));
  await untilIdle();
  expect(isReady(await cluster.get(photos))).toBe(true);
  expect(looks("photos")).toHaveLength(1);
  expect(writes()).toEqual([]);
});

it("an event that EventBridge sends again causes no second look", async () => {
  await untilIdle();
  const before = await wakes();
  const repeated = outcomes("repeated");
  calls.length = 0;
  expect(await post(suspended)).toBe(204);
  await eventually(() => expect(outcomes("repeated")).toBe(repeated + 1));
  await untilIdle();
  expect(await wakes()).toBe(before);
  expect(calls).toEqual([]);
});

it("a policy that is replaced by hand is written again", async () => {
  await s3.send(new PutBucketPolicyCommand({ Bucket: "photos", Policy: policyOf("Allow") }));
  const replaced = cloudTrailEvent({
    eventName: "PutBucketPolicy",
    bucketName: "photos",
    parameters: { policy: "", bucketPolicy: JSON.parse(policyOf("Allow")) as object },
  });
  expect(await post(replaced)).toBe(204);
  await eventually(() => expect(writes()).toMatchObject([{ bucket: "photos", operation: "PUT ?policy" }]));
  await world.until(photos, isReady);
  await eventually(async () => expect((await driftOf("photos")).join()).toContain("policy"));
});

it("an event of a bucket that no object has, or of a request without a bucket, wakes no object", async () => {
  await untilIdle();
  const before = await wakes();
  const unclaimed = outcomes("nobody");
  calls.length = 0;
  const unknown = cloudTrailEvent({ eventName: "DeleteBucketPolicy", bucketName: "of-another-team" });
  expect(await post(unknown)).toBe(204);
  expect(await post({ ...unknown, detail: { ...unknown.detail, requestParameters: null } })).toBe(204);
  await eventually(() => expect(outcomes("nobody")).toBe(unclaimed + 2));
  await untilIdle();
  expect(await wakes()).toBe(before);
  expect(calls).toEqual([]);
});

it("an event with another token, or with none, is refused, and drift that it names is not looked at", async () => {
  await suspend();
  const before = await wakes();
  const event = cloudTrailEvent({ eventName: "PutBucketVersioning", bucketName: "photos" });
  for (const authorization of [`Bearer ${token}x`, token, `Basic ${btoa(`drover:${token}`)}`]) {
    expect(await post(event, authorization)).toBe(401);
  }
  await untilIdle();
  expect(await wakes()).toBe(before);
  expect(calls).toEqual([]);
  expect((await world.truth.bucket("photos"))?.versioning).toBe("Suspended");
  expect(await post(event)).toBe(204);
  await eventually(async () => expect((await world.truth.bucket("photos"))?.versioning).toBe("Enabled"));
});
