// The same plain HTTP against a real API server, for sentences that must hold of both.
import { request } from "node:https";
import { readKubeconfig, startRealCluster } from "@drover/real-cluster";
import { isObject, parseJson } from "../json.ts";
import type { Json } from "../json.ts";
import type { Client } from "./client.ts";

/** What a contract asks of a server: it may be either. */
export type AnyServer = Pick<Client, "call" | "text" | "close">;

/** Starts a real API server with its own etcd, of which `apiServerArgs` are more flags. */
export async function startRealClient(apiServerArgs: readonly string[] = []): Promise<AnyServer> {
  const cluster = await startRealCluster({ apiServerArgs });
  const { url, ca, cert, key } = readKubeconfig(cluster.kubeconfig);
  const send = (method: string, path: string, body?: Json, headers: Record<string, string> = {}) =>
    new Promise<{ code: number; text: string }>((resolve, reject) => {
      const content = body === undefined ? "" : JSON.stringify(body);
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
  return {
    async call(method, path, body, headers) {
      const { code, text } = await send(method, path, body, headers);
      const json = parseJson(text);
      return { code, body: isObject(json) ? json : {}, headers: new Headers() };
    },
    text: async (path) => (await send("GET", path)).text,
    close: () => cluster.stop(),
  };
}
