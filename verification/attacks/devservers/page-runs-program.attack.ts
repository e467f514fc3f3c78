import { startNode } from "@drover/process-kubelet";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Attack } from "../attack.ts";
import { sandboxInFolder } from "../../harness/sandbox-in-folder.ts";
import { crossOrigin, rebound, type Seen, send } from "./page.ts";

export const attack: Attack = {
  name: "a web page cannot create a Pod that runs a program on the developer's machine",
  kind: "development tools trust loopback",
  needs: [],
  async run({ signal }) {
    await using attacked = await sandboxInFolder();
    const { sandbox, folder, kubeconfig } = attacked;
    const images = { "drover/s3-bucket": { command: ["/bin/true"] } };
    const node = await startNode({
      kubeconfig,
      name: "developer",
      images,
      folder: join(folder, "node"),
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
    });
    try {
      // What `fetch(url, { mode: "no-cors", method: "POST", body: new Blob([pod]) })` sends: no Content-Type, no preflight.
      const post = (name: string, headers: readonly string[]): Promise<Seen> =>
        send(sandbox.url, "POST /api/v1/namespaces/default/pods", headers, podOf(name, join(folder, name)));
      const seen = [
        await post("cross-origin", crossOrigin(sandbox.url)),
        await post("old-browser", [`Host: ${new URL(sandbox.url).host}`, "Origin: null"]),
        await post("rebound", [...rebound, "Content-Type: application/json"]),
      ];
      const ran = () =>
        ["cross-origin", "old-browser", "rebound"].find((name) => existsSync(join(folder, name)));
      const accepted = seen.some(({ status }) => status === 201);
      // A Pod that was accepted has run when its file is there; one that was refused never does.
      while (accepted && ran() === undefined && !signal.aborted) await delay(50);
      const statuses = seen.map(({ status }) => status).join(", ");
      return { succeeded: accepted, evidence: `answers: ${statuses}; ran: ${ran() ?? "nothing"}` };
    } finally {
      await node.stop();
    }
  },
};

const podOf = (name: string, file: string): string =>
  JSON.stringify({
    metadata: { name },
    spec: {
      restartPolicy: "Never",
      containers: [{ name: "main", image: "drover/s3-bucket", command: ["/bin/sh", "-c", `id > ${file}`] }],
    },
  });
