import type { Attack } from "../attack.ts";
import { keepAwsTags } from "../../../functions/s3-bucket/src/testing/aws-tags.ts";
import { openBucketScene } from "../../../functions/s3-bucket/src/testing/bucket-scene.ts";

export const attack: Attack = {
  name: "tags of AWS services on a bucket are kept, and do not stop its reconciliation",
  kind: "a set that is replaced as a whole",
  needs: [],
  async run() {
    const scene = await openBucketScene();
    try {
      const object = scene.object({ adopt: "IfUnowned", tags: { team: "north" } });
      await object.bucket.make();
      await object.bucket.setTags({ others: "stays" });
      keepAwsTags(scene.proxy, { "aws:cloudformation:stack-name": "web" });
      const error: unknown = await object.reconcileUntilStable().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      const tags = await object.bucket.tags();
      const isTagged = tags["team"] === "north" && tags["others"] === "stays";
      return {
        succeeded: error !== undefined || !isTagged,
        evidence: error instanceof Error ? error.message : `the bucket has ${Object.keys(tags).join(", ")}`,
      };
    } finally {
      await scene.close();
    }
  },
};
