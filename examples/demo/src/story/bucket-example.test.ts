import { objectKey } from "@drover/controller";
import { refOf } from "@drover/kube";
import { Bucket } from "@drover/s3-bucket";
import { expect, it } from "vitest";
import { repositoryPath } from "../repository-path.ts";
import { applyBucket, readBucket } from "./bucket-example.ts";
import { sandboxOfFile } from "../../../../packages/testing/src/sandbox.fixture.ts";

const { sandbox, client } = await sandboxOfFile({ kinds: [Bucket] });

it("an example that is there already gets its spec again and keeps the rest, and a refusal is an error", async () => {
  const [ref, { signal }] = [refOf(Bucket), new AbortController()];
  const example = await readBucket(repositoryPath("examples/bucket.yaml"));
  const apply = () => applyBucket(client, ref, example, signal);
  const heal = sandbox.faults.respond(({ method }) =>
    method === "POST" ? { status: 403, message: "not you" } : undefined,
  );
  await expect(apply()).rejects.toThrow("not you");
  heal();
  expect(await apply()).toBe("created");
  const key = objectKey(example.manifest.metadata);
  const body = { metadata: { labels: { a: "b" } }, spec: { bucketName: null, onDelete: "Retain" } };
  await client.patch(ref, key, { type: "merge", body });
  expect(await apply()).toBe("applied");
  expect(await client.get(ref, key)).toMatchObject({
    metadata: { labels: { a: "b" } },
    spec: example.manifest.spec,
  });
});
