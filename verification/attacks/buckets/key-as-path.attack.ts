import { storedItems } from "../../../functions/s3-bucket/src/testing/stored-items.ts";
import type { Attack } from "../attack.ts";
import { within } from "../streams/bridge-stage.ts";
import { openBucketStage } from "./bucket-stage.ts";

export const attack: Attack = {
  name: "a key such as ../victim/x does not make the bucket function delete objects of another bucket",
  kind: "text becomes structure",
  needs: [],
  async run() {
    await using stage = await openBucketStage();
    const { url } = stage.world.s3;
    await stage.makeBucket("victim");
    await stage.put("victim", "kept\u0010");
    await stage.make("mallorys");
    for (const key of ["../victim/kept\u0010", "./../victim/kept\u0010", "a/../../victim/kept\u0010", "b"])
      await stage.put("mallorys", key);
    const before = (await storedItems(url, "mallorys"))?.versions;
    if (before !== 4) throw new Error(`The server took ${before} of 4 keys.`);
    await stage.delete("mallorys");
    // The key without dots is gone when the function has been there.
    const tried = await within(30, async () => !(await storedItems(url, "mallorys"))?.keys.includes("b"));
    if (!tried) throw new Error("The bucket was not emptied at all.");
    const isNamed = await within(
      30,
      async () => (await stage.readyMessage("mallorys"))?.includes("../victim") === true,
    );
    const kept = (await storedItems(url, "victim"))?.keys ?? [];
    return {
      succeeded: kept.length !== 1 || !isNamed,
      evidence: `in the other bucket: ${JSON.stringify(kept)}; the message names the key: ${isNamed}`,
    };
  },
};
