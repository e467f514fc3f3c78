import { customResourceDefinition, ReconcileFunction } from "@drover/controller";
import { createHmac, randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { coreKind, namespaceNamed, secret } from "../../harness/manifests.ts";
import { sandboxInFolder } from "../../harness/sandbox-in-folder.ts";
import { startProcess } from "../../harness/start-process.ts";
import type { Attack } from "../attack.ts";

export const attack: Attack = {
  name: "an older function with a hook of the same name gets no other function's events",
  kind: "a name is first come",
  needs: ["redis"],
  async run({ redis }) {
    await using attacked = await sandboxInFolder();
    const { folder, kubeconfig, define, post, register } = attacked;
    const secretOf = { mallory: randomBytes(24).toString("hex"), victim: randomBytes(24).toString("hex") };
    const hookOf = (namespace: string) => ({
      name: "pushes",
      verify: { hmac: { secretRef: { name: "hook", key: "secret" }, header: "X-Signature" } },
      names: { field: "site", namespace },
    });
    await define(customResourceDefinition(ReconcileFunction));
    for (const namespace of ["mallory", "victim"] as const) {
      await post("/api/v1/namespaces", namespaceNamed(namespace));
      const value = secret("hook", { secret: secretOf[namespace] }, namespace);
      await post(`/api/v1/namespaces/${namespace}/secrets`, value);
      // The sandbox's clock has seconds: the older one is the first.
      const spec = { for: coreKind("ConfigMap"), hooks: [hookOf(namespace)] };
      await register(namespace === "victim" ? "websites" : "evil", spec, namespace);
      await delay(1_100);
    }
    const bridge = await startProcess({
      name: "bridge",
      main: "apps/bridge/src/main.ts",
      logFile: join(folder, "bridge.log"),
      awaited: /"hooks":"(http:[^"]+)"/,
      env: {
        DROVER_REDIS_URL: redis().url,
        DROVER_KUBECONFIG: kubeconfig,
        DROVER_HOOKS_PORT: "0",
        DROVER_AUTHORS: "trusted",
      },
    });
    try {
      /** The answer to an event at the victim's address, once the bridge has the hooks and their queues. */
      const answerTo = async (secret: string, address: string): Promise<number> => {
        const body = JSON.stringify({ site: "shop" });
        const signature = createHmac("sha256", secret).update(body).digest("hex");
        const headers = { "content-type": "application/json", "x-signature": signature };
        for (;;) {
          const { status } = await fetch(`${bridge.captured}/hooks/${address}`, {
            method: "POST",
            body,
            headers,
          });
          if (status !== 503) return status;
          await delay(100);
        }
      };
      const address = "victim/websites/pushes";
      const [victims, mallorys] = [
        await answerTo(secretOf.victim, address),
        await answerTo(secretOf.mallory, address),
      ];
      return {
        succeeded: victims !== 204 || mallorys === 204,
        evidence: `signed by the victim: ${victims}; signed by mallory: ${mallorys}`,
      };
    } finally {
      await bridge.stop();
    }
  },
};
