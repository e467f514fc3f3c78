import { startSandbox } from "@drover/sandbox";
import type { Attack } from "../attack.ts";
import { rebound, send } from "./page.ts";

export const attack: Attack = {
  name: "a web page reads no Secret of the sandbox after DNS rebinding",
  kind: "development tools trust loopback",
  needs: [],
  async run() {
    const canary = "canary-of-the-sandbox";
    const sandbox = await startSandbox();
    try {
      const [, token = ""] = /token: "(\w+)"/.exec(sandbox.kubeconfig()) ?? [];
      const secret = JSON.stringify({ metadata: { name: "kept" }, stringData: { password: canary } });
      const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
      const path = `${sandbox.url}/api/v1/namespaces/default/secrets`;
      const made = await fetch(path, { method: "POST", headers, body: secret });
      if (!made.ok) throw new Error(`The Secret could not be made: ${made.status}`);
      const start = "GET /api/v1/secrets";
      const tries = [
        await send(sandbox.url, start, rebound),
        // A page that has the token, from a screenshot for example, is refused, too.
        await send(sandbox.url, start, [...rebound, `Authorization: Bearer ${token}`]),
        await send(sandbox.url, start, ["Host: 0.0.0.0"]),
      ];
      const encoded = Buffer.from(canary).toString("base64");
      const succeeded = tries.some(({ text }) => text.includes(canary) || text.includes(encoded));
      return { succeeded, evidence: `answers: ${tries.map(({ status }) => status).join(", ")}` };
    } finally {
      await sandbox.close();
    }
  },
};
