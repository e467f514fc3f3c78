// The same plain HTTP against a real API server, for sentences that must hold of both.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:https";
import { join } from "node:path";
import { buildRealCluster, readKubeconfig, startRealCluster } from "@drover/real-cluster";
import type { RealCluster } from "@drover/real-cluster";
import { isObject, parseJson } from "../json.ts";
import type { Client } from "./client.ts";

export type { Reply } from "./client.ts";

/** What a contract asks of a server: it may be either. */
export type AnyServer = Pick<Client, "call" | "send" | "text" | "close">;

/** Starts a real API server with its own etcd, of which `apiServerArgs` are more flags. */
export const startRealClient = async (apiServerArgs: readonly string[] = []): Promise<AnyServer> =>
  clientOf(await startRealCluster({ apiServerArgs }));

/** The same with kube-controller-manager's garbage collector, and no other of its controllers. */
export async function startCollectingClient(): Promise<AnyServer> {
  const targets = ["pki", "etcd", "kubectl", "kube-apiserver", "kube-controller-manager"] as const;
  const { bin } = await buildRealCluster({ targets });
  const cluster = await startRealCluster();
  const flags = ["--controllers=garbage-collector-controller", "--leader-elect=false", "--secure-port=0"];
  const collector = spawn(
    join(bin, "kube-controller-manager"),
    [`--kubeconfig=${cluster.kubeconfig}`, ...flags],
    { stdio: "ignore" },
  );
  const exited = once(collector, "exit");
  const client = clientOf(cluster);
  return {
    ...client,
    async close() {
      collector.kill("SIGKILL");
      await exited;
      await client.close();
    },
  };
}

function clientOf(cluster: RealCluster): AnyServer {
  const { url, ca, cert, key } = readKubeconfig(cluster.kubeconfig);
  const exchange = (method: string, path: string, content = "", headers: Record<string, string> = {}) =>
    new Promise<{ code: number; text: string }>((resolve, reject) => {
      const framed = { "content-type": "application/json", "content-length": Buffer.byteLength(content) };
      const sent = request(
        url + path,
        { method, ca, cert, key, headers: { ...framed, ...headers } },
        (response) => {
          const parts: Buffer[] = [];
          response.on("data", (part: Buffer) => parts.push(part)).on("error", reject);
          response.on("end", () =>
            resolve({ code: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }),
          );
        },
      );
      sent.on("error", reject).end(content);
    });
  const send: Client["send"] = async (method, path, content, headers) => {
    const { code, text } = await exchange(method, path, content, headers);
    const json = parseJson(text);
    return { code, body: isObject(json) ? json : {}, headers: new Headers() };
  };
  return {
    call: (method, path, body, headers = {}) =>
      send(method, path, body === undefined ? "" : JSON.stringify(body), headers),
    send,
    text: async (path) => (await exchange("GET", path)).text,
    close: () => cluster.stop(),
  };
}
