import { startSandbox } from "@drover/sandbox";
import type { Attack } from "../attack.ts";
import { crossOrigin, rebound, send } from "./page.ts";
import { startPart } from "./started-part.ts";

export const attack: Attack = {
  name: "a web page reads nothing that a process serves on loopback: metrics, health, scaling figures",
  kind: "development tools trust loopback",
  needs: ["redis"],
  async run({ redis }) {
    const sandbox = await startSandbox();
    const part = await startPart("deployer", {
      kubeconfig: sandbox.kubeconfig(),
      env: { DROVER_REDIS_URL: redis().url, DROVER_AUTHORS: "trusted" },
    });
    try {
      const paths = ["/metrics", "/healthz", "/readyz", "/scaling/default/any"];
      const answers = await Promise.all(
        paths.flatMap((path) =>
          [rebound, crossOrigin(part.url)].map(async (headers) => ({
            path,
            ...(await send(part.url, `GET ${path}`, headers)),
          })),
        ),
      );
      const given = answers.filter(({ status }) => status !== 403);
      const lines = answers.find(({ path }) => path === "/metrics")?.text.split("\n").length ?? 0;
      return {
        succeeded: given.length > 0,
        evidence: `answered other than 403: ${given.map(({ path, status }) => `${path} ${status}`).join(", ") || "none"}; /metrics with a foreign Host: ${lines} lines`,
      };
    } finally {
      await part.stop();
      await sandbox.close();
    }
  },
};
