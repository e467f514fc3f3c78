import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, get, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { folderOfTest } from "../folder.fixture.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";
import { noFaults } from "./plan/faults.ts";

let server: Server;
let folder: string;
let proxy: FaultProxy;
let valid: string;
const receivedHosts: (string | undefined)[] = [];

beforeEach(async () => {
  receivedHosts.length = 0;
  folder = folderOfTest();
  server = createServer((asked, answer) => {
    receivedHosts.push(asked.headers.host);
    answer.writeHead(asked.headers.authorization === `Bearer ${valid}` ? 200 : 401).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(async () => {
  await proxy.close();
  server.close();
});

const address = (): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;
const start = async (user: object): Promise<void> => {
  const kubeconfig = join(folder, "kubeconfig");
  const config = {
    clusters: [{ name: "a", cluster: { server: `http://${address()}` } }],
    users: [{ name: "a", user }],
    contexts: [{ name: "other", context: { cluster: "a", user: "a", namespace: "team" } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  proxy = await startFaultProxy({ upstream: { kubeconfig, context: "other" }, decider: noFaults });
};
const own = () => ({ authorization: `Bearer ${proxy.token ?? ""}` });
const ask = async (headers: Record<string, string> = own()): Promise<number> =>
  (await fetch(`${proxy.url}/api/v1/pods`, { headers })).status;

it("the kubeconfig's credentials replace the client's, and are read again when they change", async () => {
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, (valid = "first"));
  await start({ tokenFile });
  expect(await ask()).toBe(200);
  writeFileSync(tokenFile, (valid = "second"));
  // The server refuses the old token; the next request has the new one.
  expect([await ask(), await ask()]).toEqual([401, 200]);
  expect(new Set(receivedHosts)).toEqual(new Set([address()]));
});

it("a credential plugin is executed, as kubectl does", async () => {
  valid = "of the plugin";
  const plugin = join(folder, "plugin.mjs");
  const credential = {
    apiVersion: "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    status: { token: valid },
  };
  writeFileSync(plugin, `console.log(${JSON.stringify(JSON.stringify(credential))})`);
  const exec = {
    apiVersion: credential.apiVersion,
    command: process.execPath,
    args: [plugin],
    interactiveMode: "Never",
  };
  await start({ exec });
  expect(await ask()).toBe(200);
});

it("only a program with the proxy's token can use the kubeconfig's credentials", async () => {
  await start({ token: (valid = "secret") });
  const { authorization } = own();
  expect(await ask()).toBe(200);
  expect(await ask({})).toBe(401);
  expect(await ask({ authorization: `${authorization}0` })).toBe(401);
  expect(await ask({ authorization: "Bearer secret" })).toBe(401);
  expect(await ask({ authorization, origin: "http://evil.example" })).toBe(403);
  const [rebound] = (await once(
    get(`${proxy.url}/api`, { headers: { authorization, host: "evil.example" } }),
    "response",
  )) as [IncomingMessage];
  expect(rebound.statusCode).toBe(403);
  expect(receivedHosts).toHaveLength(1);
});

it("the proxy's own kubeconfig has the context's namespace and the proxy's token, and no other credentials", async () => {
  await start({ token: "secret" });
  expect(JSON.parse(proxy.kubeconfig())).toMatchObject({
    clusters: [{ cluster: { server: `${proxy.url}/${proxy.token}` } }],
    users: [{ user: { token: proxy.token } }],
    contexts: [{ context: { namespace: "team" } }],
  });
  expect(proxy.kubeconfig()).not.toContain("secret");
});
