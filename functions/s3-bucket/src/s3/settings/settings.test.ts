import { beforeAll, describe, expect, test } from "vitest";
import { readyOf, type TestBucket } from "../../testing/bucket-scene.ts";
import { bucketSceneOfFile } from "../../testing/bucket-scene.fixture.ts";
import { settingSamples } from "../../testing/samples/setting-samples.ts";

/* Every setting through its life, read by the bare SDK. */
const scene = await bucketSceneOfFile();

describe.each(settingSamples)(
  "$name",
  ({ name, specs: [first, second], states, without, prepare, read, write, drift }) => {
    beforeAll(() => prepare?.(scene.withConfigurations));
    const state = ({ bucketName }: TestBucket) => read(scene.withConfigurations, bucketName);
    const writtenPaths = ({ status: { written = {} } }: TestBucket) =>
      Object.keys(written).filter((path) => path === name || path.startsWith(`${name}/`));
    const expectNoWrites = async (object: TestBucket) => {
      scene.proxy.forget();
      await object.reconcileUntilStable();
      expect(scene.proxy.writes()).toEqual([]);
    };

    test("is written to a new bucket, and then only read", async () => {
      const object = scene.object(first);
      expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
      expect(await state(object)).toMatchObject(states[0] as object);
      await expectNoWrites(object);
    });

    test("is changed with the spec", async () => {
      const object = await scene.stableObject(first);
      object.spec = { ...object.spec, ...scene.object(second).spec, adopt: "Never" };
      expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
      expect(await state(object)).toMatchObject(states[1] as object);
      await expectNoWrites(object);
    });

    test("that others change is reported, and then put right", async () => {
      const object = await scene.stableObject(first);
      await drift(scene.withConfigurations, object.bucketName);
      scene.proxy.forget();
      object.generation = 1;
      const report = readyOf(await object.reconcile());
      expect(report).toMatchObject({ status: "False", reason: "Drifted" });
      expect(report?.message).toContain(name);
      expect(scene.proxy.writes()).toEqual([]);
      expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
      expect(await state(object)).toMatchObject(states[0] as object);
    });

    test("is removed when the spec no longer names it", async () => {
      const object = await scene.stableObject(first);
      object.spec = { ...object.spec, [name]: undefined };
      expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
      expect(await state(object)).toEqual(without);
      expect(writtenPaths(object)).toEqual([]);
      await expectNoWrites(object);
    });

    const names = Object.keys(first);
    test.runIf(names.length > 1)("is removed before the setting that it needs", async () => {
      const object = await scene.stableObject(first);
      scene.proxy.forget();
      object.spec = { ...object.spec, ...Object.fromEntries(names.map((each) => [each, undefined])) };
      expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
      expect(await state(object)).toEqual(without);
      expect(scene.proxy.writes()).toHaveLength(names.length);
      expect(scene.proxy.writes().at(-1)).toBe("PutBucketVersioning");
    });

    test("that an adopted bucket has already is not written, and stays when the spec no longer names it", async () => {
      const object = scene.object({ adopt: "IfUnowned", ...first });
      await object.bucket.make();
      await write(scene.withConfigurations, object.bucketName);
      scene.proxy.forget();
      await object.reconcileUntilStable();
      expect(scene.proxy.writes()).toEqual(["PutBucketTagging"]);
      const before = await state(object);
      object.spec = { ...object.spec, [name]: undefined };
      await expectNoWrites(object);
      expect(await state(object)).toEqual(before);
    });

    test("that the server does not support is reported, and tried once at each poll", async () => {
      const operation = await operationOf(first);
      scene.proxy.faultOn(operation, { status: 501, code: "NotImplemented" });
      const object = scene.object(first);
      for (let poll = 0; poll < 2; poll++) {
        scene.proxy.calls.length = 0;
        const result = await object.reconcileUntilStable();
        expect(readyOf(result)).toMatchObject({ status: "False", reason: "NotSupported" });
        expect(result.requeueAfter).toBe("5m");
        expect(scene.proxy.calls.filter((call) => call.operation === operation)).toHaveLength(1);
      }
    });

    /** The call that writes the setting. */
    async function operationOf(spec: typeof first): Promise<string> {
      await scene.stableObject(spec);
      const writes = scene.proxy.writes().filter((each) => !/^(CreateBucket|PutBucketTagging)$/.test(each));
      scene.proxy.forget();
      // Settings that this one needs are written before it.
      return writes.at(-1) ?? "";
    }
  },
);
