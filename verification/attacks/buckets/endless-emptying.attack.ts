import type { Attack } from "../attack.ts";
import { within } from "../streams/bridge-stage.ts";
import { openBucketStage } from "./bucket-stage.ts";

export const attack: Attack = {
  name: "no object key that a user writes into a bucket keeps its Bucket object from being deleted",
  kind: "text becomes structure",
  needs: [],
  async run() {
    await using stage = await openBucketStage();
    await stage.make("of-odd-keys");
    const keys = ["\r", "a\rb", "\u0001", "a\u0010b", "\ufffe", "&#13;", "a+b", "%0D", "]]>", " "];
    for (const key of keys) await stage.put("of-odd-keys", key);
    await stage.delete("of-odd-keys");
    const gone = await within(30, () => stage.isGone("of-odd-keys"));
    const left = gone ? "" : ` Its message: ${(await stage.readyMessage("of-odd-keys")) ?? "none"}`;
    return {
      succeeded: !gone,
      evidence: `${keys.length} keys that XML or URLs cannot have as they are: the object is ${gone ? "gone" : "still there"}.${left}`,
    };
  },
};
