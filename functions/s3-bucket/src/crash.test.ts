import { describe, expect, test } from "vitest";
import { type TestBucket } from "./testing/bucket-scene.ts";
import { bucketSceneOfFile } from "./testing/bucket-scene.fixture.ts";
import { type S3Fault, isWrite, type S3Call } from "./testing/s3-fault-proxy.ts";

/*
 * Every request of an object's life is cut off once: before the server gets it, and after it has done it. A run that
 * is cut off ends with an error, as if its process had been killed there; what it wrote into the status is what earlier
 * runs wrote. Whatever was cut, the same end must be reached, with one creation and no second one.
 */
const scene = await bucketSceneOfFile();

const faults: Readonly<Record<string, S3Fault>> = {
  "cut off before the server gets it": "cut-before",
  "cut off after the server has done it": "cut-after",
};
const made = () =>
  scene.proxy.calls.filter(({ operation, served }) => operation === "CreateBucket" && served === 200);

/** Runs until one succeeds and asks for nothing at once: what the queue does. */
async function untilDone(step: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < 10; tries++) {
    if (
      await step().then(
        () => true,
        () => false,
      )
    )
      return;
  }
  throw new Error("Ten tries were not enough.");
}

/** Lives a life with a fault at each of its requests in turn; `check` sees every end. */
async function cutEverywhere(
  fault: S3Fault,
  live: () => Promise<TestBucket>,
  check: (object: TestBucket, calls: readonly S3Call[]) => Promise<void>,
): Promise<number> {
  for (let cut = 0; ; cut++) {
    scene.proxy.forget();
    let was: S3Call | undefined;
    scene.proxy.fault = (call) => {
      if (call.number !== cut) return "none";
      was = call;
      return fault;
    };
    const object = await live();
    if (was === undefined) return cut;
    const { operation } = was;
    await check(object, [...scene.proxy.calls]).catch((cause: unknown) => {
      throw new Error(`After a fault at request ${cut}, ${operation}`, { cause });
    });
  }
}

describe.each(Object.entries(faults))("a request is %s", (_, fault) => {
  test.each(["us-east-1", "eu-west-1"])("anywhere while a bucket is made, in %s", async (region) => {
    const points = await cutEverywhere(
      fault,
      async () => {
        const object = scene.object({ region, versioning: "Enabled", tags: { team: "a" } });
        await untilDone(() => object.reconcileUntilStable());
        return object;
      },
      async (object) => {
        expect(made()).toHaveLength(1);
        const bucket = await object.bucket.state();
        expect(bucket?.versioning).toBe("Enabled");
        expect(bucket?.tags).toMatchObject({ team: "a", "drover.dev/owner-uid": object.uid });
        expect(object.status).toMatchObject({ bucketName: object.bucketName, adopted: false });
      },
    );
    expect(points).toBeGreaterThan(8);
  });

  test("anywhere while a bucket is emptied and deleted", async () => {
    const points = await cutEverywhere(
      fault,
      async () => {
        const object = scene.object({ onDelete: "Delete", emptyOnDelete: true, versioning: "Enabled" });
        const { fault: planned } = scene.proxy;
        scene.proxy.forget();
        await object.reconcileUntilStable();
        for (const key of ["a", "a", "b"]) await object.bucket.put(key);
        scene.proxy.forget();
        scene.proxy.fault = planned;
        await untilDone(() => object.finalize());
        return object;
      },
      async (object) => expect(await object.bucket.state()).toBeUndefined(),
    );
    expect(points).toBeGreaterThan(8);
  });

  test("anywhere while a bucket is let go of", async () => {
    await cutEverywhere(
      fault,
      async () => {
        const object = scene.object({ tags: { team: "a" } });
        const { fault: planned } = scene.proxy;
        scene.proxy.forget();
        await object.reconcileUntilStable();
        scene.proxy.forget();
        scene.proxy.fault = planned;
        await untilDone(() => object.finalize());
        return object;
      },
      async (object) => expect(await object.bucket.tags()).toEqual({ team: "a" }),
    );
  });

  test("anywhere while a bucket is made, and then the object is deleted: nothing stays behind", async () => {
    await cutEverywhere(
      fault,
      async () => {
        const object = scene.object({ onDelete: "Delete" });
        await object.reconcileUntilStable().catch(() => undefined);
        // A creation that was cut off is waited for; here it is known not to come.
        if (made().length === 0) object.status = {};
        await untilDone(() => object.finalize());
        return object;
      },
      async (object) => expect(await object.bucket.state()).toBeUndefined(),
    );
  });

  test("anywhere near a foreign bucket: it is never changed", async () => {
    await cutEverywhere(
      fault,
      async () => {
        const object = scene.object({ onDelete: "Delete", emptyOnDelete: true, adopt: "IfUnowned" });
        await object.bucket.make();
        await object.bucket.setTags({ "drover.dev/owner-uid": "another" });
        for (let runs = 0; runs < 3; runs++) await object.reconcileUntilStable().catch(() => undefined);
        await untilDone(() => object.finalize());
        return object;
      },
      async (object, calls) => {
        expect(calls.filter(isWrite)).toEqual([]);
        expect(await object.bucket.tags()).toEqual({ "drover.dev/owner-uid": "another" });
      },
    );
  });
});
