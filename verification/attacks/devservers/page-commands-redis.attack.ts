import { Redis } from "ioredis";
import type { Attack } from "../attack.ts";
import { crossOrigin, rebound, send } from "./page.ts";

export const attack: Attack = {
  name: "a web page has Redis run no command",
  kind: "development tools trust loopback",
  needs: ["redis"],
  async run({ redis }) {
    const { url } = redis();
    const client = new Redis(url);
    try {
      await client.set("kept", "yes");
      const commands = "SET page here\r\nFLUSHALL\r\n";
      const page = crossOrigin(url);
      for (const start of ["POST /", "PUT /", "GET /", "OPTIONS /"])
        for (const headers of [page, rebound]) await send(url, start, headers, commands);
      const [kept, made] = [await client.get("kept"), await client.get("page")];
      return {
        succeeded: kept !== "yes" || made !== null,
        evidence: `the key that was there: ${String(kept)}; the key of the page: ${String(made)}`,
      };
    } finally {
      client.disconnect();
    }
  },
};
