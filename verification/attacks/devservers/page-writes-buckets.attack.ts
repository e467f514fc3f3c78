import { startS3 } from "@drover/local-servers";
import type { Attack } from "../attack.ts";
import { crossOrigin, rebound, send } from "./page.ts";

export const attack: Attack = {
  name: "a web page neither reads nor writes the buckets of the demo's S3 server",
  kind: "development tools trust loopback",
  needs: [],
  async run() {
    const s3 = await startS3();
    try {
      const canary = "canary-of-a-bucket";
      await fetch(`${s3.url}/${canary}`, { method: "PUT" });
      const page = crossOrigin(s3.url);
      const tries = [
        await send(s3.url, "GET /", page),
        await send(s3.url, "GET /", rebound),
        await send(s3.url, "PUT /made-by-a-page", page),
        await send(s3.url, "OPTIONS /made-by-a-page", [...page, "Access-Control-Request-Method: PUT"]),
        await send(s3.url, "POST /moto-api/reset", page),
      ];
      const listed = await (await fetch(s3.url)).text();
      const read = tries.some(
        ({ text }) => text.includes(canary) || /access-control-allow-origin/i.test(text),
      );
      const wrote = listed.includes("made-by-a-page") || !listed.includes(canary);
      const statuses = tries.map(({ status }) => status).join(", ");
      return { succeeded: read || wrote, evidence: `answers: ${statuses}; read: ${read}, wrote: ${wrote}` };
    } finally {
      await s3.stop();
    }
  },
};
