import { noFaults, startFaultProxy } from "@drover/testing/fault-proxy";
import type { Attack } from "../attack.ts";
import { sandboxInFolder } from "../../harness/sandbox-in-folder.ts";
import { crossOrigin, rebound, send } from "./page.ts";

export const attack: Attack = {
  name: "a fault proxy forwards no request of a web page, or without its token, with its cluster's credentials",
  kind: "development tools trust loopback",
  needs: [],
  async run() {
    await using attacked = await sandboxInFolder();
    const { kubeconfig } = attacked;
    const proxy = await startFaultProxy({ upstream: { kubeconfig }, decider: noFaults });
    try {
      const start = "GET /api/v1/secrets";
      const answers = [
        await send(proxy.url, start, rebound),
        await send(proxy.url, start, crossOrigin(proxy.url)),
        await send(proxy.url, start, [`Host: ${new URL(proxy.url).host}`]),
      ];
      const succeeded = answers.some(({ text }) => text.includes("SecretList"));
      return { succeeded, evidence: `answers: ${answers.map(({ status }) => status).join(", ")}` };
    } finally {
      await proxy.close();
    }
  },
};
