import { CreateBucketCommand, PutObjectCommand, type BucketVersioningStatus } from "@aws-sdk/client-s3";
import { RetryError } from "@drover/controller";
import { describe, expect, test, vi } from "vitest";
import { pseudoRandom } from "@drover/random";
import { emptyBucket } from "./empty-bucket.ts";
import { withEncodedNames } from "./list-items.ts";
import { s3ClientOf } from "../testing/bucket-handle.ts";
import { expectError, isFinalized, type TestBucket } from "../testing/bucket-scene.ts";
import { bucketSceneOfFile } from "../testing/bucket-scene.fixture.ts";
import { isOdd, oddKeys, randomKeys } from "../testing/odd-keys.ts";
import { storedItems } from "../testing/stored-items.ts";

const scene = await bucketSceneOfFile();

const emptied = (spec: object = {}): Promise<TestBucket> =>
  scene.stableObject({ onDelete: "Delete", emptyOnDelete: true, ...spec });
const fill = async ({ bucket, bucketName }: TestBucket, keys: readonly string[]): Promise<void> => {
  for (const key of keys) {
    if (key.includes("\n")) await post(bucketName, key);
    else await bucket.put(key);
  }
};
async function post(bucket: string, key: string): Promise<void> {
  const form = new FormData();
  form.append("key", key);
  form.append("file", key);
  const { ok } = await fetch(`${scene.server.url}/${bucket}`, { method: "POST", body: form });
  expect(ok).toBe(true);
}
const stored = ({ bucketName }: TestBucket) => storedItems(scene.server.url, bucketName);

/** Runs as the queue would, as long as each asks for the next at once; then there must be no bucket. */
async function expectDeleted(object: TestBucket): Promise<void> {
  while (!(await isFinalized(object)));
  expect(await stored(object)).toBeUndefined();
}

/** moto has no path for it, so it is written as a browser does, and deleted in XML. */
const lineEnd = "a\r\nb";

const callsOf = (operation: string) => scene.proxy.calls.filter((call) => call.operation === operation);
const objectsIn = (body: string): number => body.match(/<Object>/g)?.length ?? 0;

describe("keys of any characters", () => {
  test.each<[string, readonly BucketVersioningStatus[]]>([
    ["never had versioning", []],
    ["has versioning", ["Enabled"]],
    ["had versioning", ["Enabled", "Suspended"]],
  ])("are deleted from a bucket that %s, each once", async (_, states) => {
    const object = await emptied();
    const keys = [...oddKeys, ...randomKeys(150, pseudoRandom(1).fraction), lineEnd];
    // moto deletes all versions where versioning is suspended.
    const isMarked = (key: string, i: number): boolean =>
      states.at(-1) === "Enabled" && i % 3 === 0 && key !== lineEnd;
    for (const state of [undefined, ...states]) {
      if (state !== undefined) await object.bucket.setVersioning(state);
      await fill(object, keys);
    }
    // Names that only versions and delete markers have any more.
    for (const Key of keys.filter(isMarked)) await object.bucket.deleteObject(Key);
    const before = await stored(object);
    expect(new Set(before?.keys)).toEqual(new Set(keys.filter((key, i) => !isMarked(key, i))));
    const versions = before?.versions ?? 0;
    expect(versions).toBeGreaterThanOrEqual(keys.length);

    scene.proxy.forget();
    scene.proxy.pageSize = 50;
    await expectDeleted(object);
    const alone = callsOf("DeleteObject");
    const together = callsOf("DeleteObjects").map(({ body }) => objectsIn(body));
    expect(new Set(alone.map(({ key }) => key))).toEqual(new Set(keys.filter(isOdd)));
    expect(alone.length + together.reduce((sum, count) => sum + count, 0)).toBe(versions);
    const requests = scene.proxy.calls.filter(({ operation }) => operation.startsWith("DeleteObject"));
    expect(new Set(requests.map(({ body, url }) => url + body)).size).toBe(requests.length);
    // One more for each run: it sees what is left.
    const pages = Math.ceil(versions / 50);
    expect(callsOf("ListObjectVersions").length).toBeLessThanOrEqual(pages + Math.ceil(pages / 10));
  });

  test("are aborted uploads of", async () => {
    const object = await emptied();
    const keys = oddKeys.filter((key) => !/(^|\/)\.\.?(\/|$)/.test(key));
    for (const Key of keys) await object.bucket.beginUpload(Key);
    expect((await stored(object))?.uploads).toBe(keys.length);
    scene.proxy.forget();
    await expectDeleted(object);
    expect(new Set(callsOf("AbortMultipartUpload").map(({ key }) => key))).toEqual(new Set(keys));
    expect(callsOf("AbortMultipartUpload")).toHaveLength(keys.length);
  });

  test("are aborted uploads of, which others begin again and again: the next run goes on", async () => {
    const object = await emptied();
    let begun = 0;
    scene.proxy.before("ListMultipartUploads", () => {
      return object.bucket.beginUpload(`upload-${begun++}`);
    });
    const error = await expectError(object.finalize());
    expect(error).toMatchObject({ reason: "Emptying", after: "1ms" });
    expect(error.message).toContain('10 items in this run, and it goes on at "upload-10"');
    expect(callsOf("AbortMultipartUpload")).toHaveLength(10);
  });

  test("are read from a listing that encodes them", async () => {
    const object = await emptied();
    const version = (key: string) => `<Version><Key>${key}</Key><VersionId>null</VersionId></Version>`;
    const body = `<ListVersionsResult><EncodingType>url</EncodingType>${version("a+b%2Bc%0D%10")}${version("%FF")}</ListVersionsResult>`;
    scene.proxy.faultOn("ListObjectVersions", { status: 200, body });
    const error = await expectError(object.finalize());
    expect(callsOf("DeleteObject").map(({ key }) => key)).toEqual(["a b+c\r\u0010"]);
    expect(error).toBeInstanceOf(RetryError);
    expect(error.message).toContain('"a b+c\\r\\u0010" of bucket');
    expect(error.message).toContain("and 1 more");
    const client = s3ClientOf({ ...scene.server, url: scene.proxy.url });
    const bucket = { Bucket: object.bucketName, ExpectedBucketOwner: undefined };
    const { kept } = await emptyBucket({ client, bucket, http: { abortSignal: AbortSignal.timeout(9_000) } });
    expect(kept.at(-1)).toEqual({ key: '"%FF"', why: "its name is not UTF-8" });
  });
});

test("names in a listing that are not encoded are, whatever they look like", () => {
  const xml =
    "<A><Key>a\r&#xD;&amp;lt;%41 &#x1FAA3;&#xD800;</Key><NextKeyMarker>\n</NextKeyMarker><Key/></A>";
  expect(withEncodedNames(xml)).toBe(
    `<A><Key>${encodeURIComponent("a\r\r&lt;%41 🪣\ufffd")}</Key><NextKeyMarker>%0A</NextKeyMarker><Key/></A>`,
  );
  const encoded = "<A><EncodingType>url</EncodingType><Key>%41</Key></A>";
  expect(withEncodedNames(encoded)).toBe(encoded);
});

describe("what cannot be deleted", () => {
  test("is named, the rest goes, and nothing is repeated in a run", async () => {
    const object = await emptied();
    await fill(object, ["held", "z", "z\u0010"]);
    scene.proxy.forget();
    // Confirmed and not done, as by a server that reads another name.
    scene.proxy.fault = ({ operation, key }) => {
      if (operation === "DeleteObjects") return { status: 200, body: "<DeleteResult></DeleteResult>" };
      return operation === "DeleteObject" && key === "held" ? { status: 204, body: "" } : "none";
    };
    const error = await expectError(object.finalize());
    expect(error).toMatchObject({ name: "RetryError", reason: "ObjectsKept" });
    expect(error.message).toContain('"held"');
    expect(callsOf("DeleteObjects")).toHaveLength(1);
    expect(callsOf("DeleteObject").map(({ key }) => key)).toEqual(["z\u0010", "held", "z"]);
    expect(callsOf("ListObjectVersions")).toHaveLength(3);
    expect((await stored(object))?.keys).toEqual(["held"]);

    scene.proxy.forget();
    await expectDeleted(object);
  });

  test("because it is held does not keep what comes after it from being deleted, however much it is", async () => {
    const Bucket = "with-a-lock";
    await scene.s3.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
    const object = await emptied({ bucketName: Bucket, adopt: "IfUnowned" });
    const held = Array.from({ length: 25 }, (_, i) => `a${i}`);
    for (const Key of held)
      await scene.s3.send(new PutObjectCommand({ Bucket, Key, Body: "x", ObjectLockLegalHoldStatus: "ON" }));
    await fill(object, ["z"]);
    expect((await stored(object))?.keys).toContain("z");
    scene.proxy.forget();
    scene.proxy.pageSize = 10;
    const error = await expectError(object.finalize());
    expect(error).toMatchObject({ reason: "ObjectsKept" });
    expect(error.message).toMatch(/AccessDenied.*, and 24 more/);
    expect(callsOf("DeleteObject")).toEqual([]);
    expect((await stored(object))?.versions).toBe(25);
    expect((await stored(object))?.keys).not.toContain("z");
  });

  test("is an object whose name would lead to another bucket", async () => {
    const [object, neighbour] = [await emptied(), await emptied()];
    await fill(neighbour, ["a\r", "a\u0010"]);
    await fill(object, ["b", `../${neighbour.bucketName}/a\u0010`]);
    scene.proxy.forget();
    const error = await expectError(object.finalize());
    expect(error).toMatchObject({ reason: "ObjectsKept" });
    expect(error.message).toContain(`../${neighbour.bucketName}/a\\u0010`);
    expect(callsOf("DeleteObject")).toEqual([]);
    expect((await stored(neighbour))?.keys).toHaveLength(2);
  });

  test("is an object whose name the server finds no way to: the others go", async () => {
    const object = await emptied();
    await post(object.bucketName, "a\r\n\u0010");
    const others = Array.from({ length: 40 }, (_, i) => `b${i}\u0010`);
    await fill(object, others);
    const error = await expectError(object.finalize());
    expect(error).toMatchObject({ reason: "ObjectsKept" });
    expect(error.message).toContain('"a\\r\\n\\u0010"');
    expect(error.message).toContain("HTTP 404");
    expect((await stored(object))?.keys).toEqual(["a\r\n\u0010"]);
  });

  test.each([
    [503, "SlowDown"],
    [429, "TooManyRequests"],
  ])("at all, for a while (%i), is waited for as the server asks", async (status, code) => {
    const object = await emptied();
    await fill(object, ["a\u0010", "b\u0010"]);
    scene.proxy.fault = ({ operation }) =>
      operation === "DeleteObject" ? { status, code, headers: { "retry-after": "7" } } : "none";
    expect(await expectError(object.finalize())).toMatchObject({ reason: "SlowDown", after: "7000ms" });
    scene.proxy.forget();
    await expectDeleted(object);
  });
});

test.each([
  [501, "NotImplemented"],
  [405, "MethodNotAllowed"],
  [400, "MalformedXML"],
])("a server that deletes nothing together (%i %s) is asked for each", async (status, code) => {
  const object = await emptied();
  await fill(object, ["a", "b"]);
  scene.proxy.faultOn("DeleteObjects", { status, code });
  await expectDeleted(object);
});

test("a server that has no unfinished uploads is emptied all the same", async () => {
  const object = await emptied();
  await fill(object, ["a"]);
  scene.proxy.faultOn("ListMultipartUploads", { status: 501, code: "NotImplemented" });
  await expectDeleted(object);
});

describe("a run", () => {
  const refused = (keys: readonly string[]): string =>
    keys
      .map((key) => `<Error><Key>${key}</Key><Code>AccessDenied</Code><Message>held</Message></Error>`)
      .join("");
  const many = Array.from({ length: 13 }, (_, i) => `k${String(i).padStart(2, "0")}`);

  test("in which nothing could be deleted is no progress, however many objects there are", async () => {
    const object = await emptied();
    await fill(object, many);
    scene.proxy.pageSize = 1;
    scene.proxy.fault = ({ operation }) =>
      operation === "DeleteObjects"
        ? { status: 200, body: `<DeleteResult>${refused(many)}</DeleteResult>` }
        : "none";
    expect(await expectError(object.finalize())).toMatchObject({ name: "RetryError", reason: "ObjectsKept" });
  });

  test("deletes so many pages, and the next comes at once, also where one object is held", async () => {
    const object = await emptied();
    await fill(object, many);
    scene.proxy.forget();
    scene.proxy.pageSize = 1;
    let isFirst = true;
    scene.proxy.fault = ({ operation }) => {
      const isHeld = operation === "DeleteObjects" && isFirst;
      if (isHeld) isFirst = false;
      return isHeld
        ? { status: 200, body: `<DeleteResult>${refused(many.slice(0, 1))}</DeleteResult>` }
        : "none";
    };
    expect(await expectError(object.finalize())).toMatchObject({ reason: "Emptying", after: "1ms" });
    const requests = callsOf("DeleteObjects").length;
    expect(requests).toBeGreaterThan(5);
    expect(requests).toBeLessThanOrEqual(10);
    scene.proxy.forget();
    await expectDeleted(object);
  });

  test("begins no further page of a slow server", async () => {
    const object = await emptied();
    await fill(object, many.slice(0, 5));
    scene.proxy.forget();
    scene.proxy.pageSize = 1;
    const now = performance.now.bind(performance);
    let later = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + later);
    scene.proxy.before("DeleteObjects", () => void (later += 11_000));
    expect(await expectError(object.finalize())).toMatchObject({ reason: "Emptying" });
    clock.mockRestore();
    expect(callsOf("DeleteObjects")).toHaveLength(2);
  });
});

test("a bucket that is filled again and again is reported, with backoff", async () => {
  const object = await emptied();
  scene.proxy.before("DeleteBucket", () => object.bucket.put("again"));
  const error = await expectError(object.finalize());
  expect(error).toMatchObject({ name: "RetryError", reason: "BucketNotEmpty" });
  expect(error.message).toContain("Stop what writes to it");
});
