import { sandboxInFolder } from "../../harness/sandbox-in-folder.ts";
import { type Attack, outcomeOf } from "../attack.ts";
import { crossOrigin, rebound, send } from "./page.ts";
import { startPart } from "./started-part.ts";

export const attack: Attack = {
  name: "a web page reads nothing that a process serves on loopback: metrics, health, scaling figures",
  kind: "development tools trust loopback",
  needs: ["redis"],
  async run({ redis }) {
    await using attacked = await sandboxInFolder();
    await using part = await startPart("deployer", {
      DROVER_KUBECONFIG: attacked.kubeconfig,
      DROVER_REDIS_URL: redis().url,
      DROVER_AUTHORS: "trusted",
    });
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
    return outcomeOf(
      given.map(({ path, status, text }) => `${path} ${status}: ${text.split("\n").length} lines`),
      `all ${answers.length} answers are 403`,
    );
  },
};
