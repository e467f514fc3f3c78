import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bucket, eventually, loggedUrl, worldOfFile } from "../stage/world.ts";

const file = new URL("../../../functions/s3-bucket/deploy/function.yaml", import.meta.url);
const token = "a-token-of-the-s3-server";
const hooks = `  hooks:
    - name: buckets
      verify: { bearer: { secretRef: { name: s3-events, key: token } } }
      names: { field: "Records[].s3.bucket.name", heldBy: status.bucketName }
`;
const world = await worldOfFile();
const functions = join(world.folder, "functions");
mkdirSync(functions);
writeFileSync(join(functions, "function.yaml"), readFileSync(file, "utf8") + hooks);
world.mount("secrets/s3-events", { token });
await world.startWorker();
const bridge = await world.startBridge({
  functions,
  awaited: "; watching",
  env: { DROVER_HOOKS_PORT: "0", DROVER_HOOK_SECRETS: join(world.folder, "secrets") },
});
const url = await loggedUrl(bridge, "hooks");

/** An event notification of S3, with the fields that the bridge reads. */
const notify = (name: string) =>
  fetch(`${url}/hooks/-/buckets.s3.drover.dev/buckets`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({
      Records: [{ eventVersion: "2.1", eventName: "s3:ObjectCreated:Put", s3: { bucket: { name } } }],
    }),
  });

it("an event of the S3 server lets the bucket function repair drift long before its next poll", async () => {
  const { truth } = world;
  const photos = bucket("photos", { pollInterval: "10h", tags: { team: "a" } });
  await world.applyReady(photos);
  await truth.removeBucket("photos");
  // That an object holds its bucket's name may be filed a moment after the object is Ready.
  await eventually(async () => {
    expect((await notify("photos")).status).toBe(204);
    expect(await truth.bucket("photos")).toMatchObject({ tags: { team: "a" } });
  });
  expect((await notify("unknown")).status).toBe(204);
}, 120_000);
