import { type Attack, outcomeOf } from "../attack.ts";
import { leaks, printed } from "./printed.ts";

const urls = [
  ...["redis:/admin:CANARY-pw@host:6379", " redis://admin:CANARY-pw@host", "'redis://admin:CANARY-pw@host'"],
  ...[
    "http://admin:CANARY-pw@host",
    "redis://admin:1/CANARY-pw@127.0.0.1:1",
    "redis://a:1?password=CANARY,b:1",
  ],
  ...["redis://127.0.0.1:1?password=CANARY", "redis://:CANARY%zz@127.0.0.1:1", "redis://me:CANARY#x@h:1"],
  ...["CANARY", "redis://admin:1?CANARY@h,b:1", "redis://admin:1#CANARY@127.0.0.1:1"],
];
const parts = ["bridge", "deployer", "gateway"];

/** Logs are shipped to other places and kept there, under other permissions than Secrets. */
export const attack: Attack = {
  name: "a setting that cannot be used is not shown, unless it is marked plain",
  kind: "error text carries its input",
  needs: [],
  async run({ log }) {
    const found: string[] = [];
    for (const [i, url] of urls.entries()) {
      const part = parts[i % parts.length] ?? "";
      const env = { DROVER_REDIS_URL: url, DROVER_KUBECONFIG: "/absent" };
      const text = await printed({ module: `apps/${part}/src/main.ts` }, env);
      if (!text.includes('"level":"fatal"')) throw new Error(`${part} did not refuse ${url}: ${text}`);
      found.push(...leaks(text).map((shown) => `${part}: ${shown}`));
    }
    const own = await printed({ module: "apps/sandbox/src/main.ts" }, { DROVER_SANDBOX_TOKEN: "a CANARY" });
    found.push(...leaks(own));
    log(`${urls.length + 1} settings tried`);
    return outcomeOf(found, "no canary in what the processes print");
  },
};
