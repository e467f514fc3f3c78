import { objectKey } from "@drover/controller";
import { builtin, connect } from "@drover/kube";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kubeconfigText } from "../../harness/kubeconfigs.ts";
import { listen } from "../../harness/listen.ts";
import type { Attack } from "../attack.ts";

const account = "system:serviceaccount:team:one";

export const attack: Attack = {
  name: "a function acts as its ServiceAccount alone, even when the kubeconfig impersonates a user",
  kind: "the rights of another",
  needs: [],
  async run() {
    const users: string[] = [];
    const server = createServer((request, response) => {
      // A header that is there twice is one for Node: the values, joined.
      users.push([request.headers["impersonate-user"] ?? "no user"].flat().join(", "));
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(configMap));
    });
    const port = await listen(server);
    const folder = await mkdtemp(join(tmpdir(), "drover-"));
    try {
      const kubeconfig = join(folder, "kubeconfig");
      await writeFile(
        kubeconfig,
        kubeconfigText({ server: `http://127.0.0.1:${port}` }, { token: "x", as: "system:admin" }),
      );
      const client = await connect({ kubeconfig });
      await client
        .as({ namespace: "team", name: "one" })
        .get(builtin.configMap, objectKey({ namespace: "team", name: "a" }));
      await client.close();
    } finally {
      server.close();
      server.closeAllConnections();
      await rm(folder, { recursive: true });
    }
    return {
      succeeded: users.length === 0 || users.some((user) => user !== account),
      evidence: `the API server was asked as ${users.join(" and ")}`,
    };
  },
};

const configMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "team", name: "a", uid: "1", resourceVersion: "1" },
};
