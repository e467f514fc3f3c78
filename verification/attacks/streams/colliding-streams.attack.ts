import { coreKind } from "../../harness/manifests.ts";
import { type Attack, outcomeOf } from "../attack.ts";
import { stageBridge } from "./bridge-stage.ts";

const deployments = { ...coreKind("Deployment"), group: "apps" };

export const attack: Attack = {
  name: "a function with a wrongly named kind does not take over the stream of another kind",
  kind: "text becomes structure",
  needs: ["redis"],
  async run({ redis }) {
    const colliders = [
      { group: "", version: "apps/v1" },
      { group: "apps", version: "v1", kind: "Gadget" },
      { group: "apps", version: "v1", scope: "Cluster" },
    ];
    const lost: string[] = [];
    for (const [i, collider] of colliders.entries()) {
      const victim = `victim-${i}`;
      const functions = [
        { name: "evil", for: { ...deployments, ...collider } },
        { name: victim, for: deployments },
      ];
      await using stage = await stageBridge(redis().url, functions, "evil");
      await stage.startBridge();
      const metadata = { labels: { app: "a" } };
      await stage.create("/apis/apps/v1/namespaces/default/deployments", {
        metadata: { name: "made" },
        spec: {
          selector: { matchLabels: metadata.labels },
          template: { metadata, spec: { containers: [{ name: "c", image: "c" }] } },
        },
      });
      const isWoken = await stage.isWoken(victim, "made");
      if (!isWoken) lost.push(`the victim was not woken beside ${JSON.stringify(collider)}`);
      await stage.admin.flushall();
    }
    return outcomeOf(lost, "the victim was woken beside each");
  },
};
