import { sandboxInFolder } from "../../harness/sandbox-in-folder.ts";
import type { Attack } from "../attack.ts";
import { rebound, send } from "./page.ts";

export const attack: Attack = {
  name: "a web page reads no Secret of the sandbox after DNS rebinding",
  kind: "development tools trust loopback",
  needs: [],
  async run() {
    const canary = "canary-of-the-sandbox";
    await using attacked = await sandboxInFolder();
    const { sandbox, post } = attacked;
    const secret = { metadata: { name: "kept" }, stringData: { password: canary } };
    await post("/api/v1/namespaces/default/secrets", secret);
    const start = "GET /api/v1/secrets";
    const tries = [
      await send(sandbox.url, start, rebound),
      // A page that has the token, from a screenshot for example, is refused, too.
      await send(sandbox.url, start, [...rebound, `Authorization: Bearer ${sandbox.token}`]),
      await send(sandbox.url, start, ["Host: 0.0.0.0"]),
    ];
    const encoded = Buffer.from(canary).toString("base64");
    const succeeded = tries.some(({ text }) => text.includes(canary) || text.includes(encoded));
    return { succeeded, evidence: `answers: ${tries.map(({ status }) => status).join(", ")}` };
  },
};
