import { type Attack, outcomeOf } from "../attack.ts";
import { leaks, printed } from "./printed.ts";

const urls = ["redis://127.0.0.1:1?password=CANARY", "redis://127.0.0.1:1/0?family=4&password=CANARY"];

/** The URL with which functions reach Redis stands in their Pods: a password in it would be that of all of them. */
export const attack: Attack = {
  name: "a Redis password in the query of a URL is refused for functions, and not shown",
  kind: "error text carries its input",
  needs: [],
  async run({ log }) {
    const found: string[] = [];
    for (const url of urls) {
      const env = { DROVER_REDIS_URL: "redis://127.0.0.1:1", DROVER_FUNCTIONS_REDIS_URL: url };
      const text = await printed(
        { module: "apps/deployer/src/main.ts" },
        { ...env, DROVER_KUBECONFIG: "/absent" },
      );
      if (!text.includes("DROVER_FUNCTIONS_REDIS_URL cannot be used")) found.push(`${url} is taken`);
      found.push(...leaks(text));
    }
    log(`${urls.length} URLs tried`);
    return outcomeOf(found, "all refused, nothing shown");
  },
};
