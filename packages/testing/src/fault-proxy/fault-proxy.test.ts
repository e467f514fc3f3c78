import { type Sandbox, type StaleView, startSandbox } from "@drover/sandbox";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { faultProxyContract } from "./fault-proxy.contract.ts";
import { staleContract } from "./stale.contract.ts";

let sandbox: Sandbox;
let view: StaleView;
let folder: string;
let kubeconfig: string;

beforeAll(async () => {
  sandbox = await startSandbox();
  view = await sandbox.staleView();
  folder = await mkdtemp(join(tmpdir(), "drover-fault-proxy-"));
  kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, sandbox.kubeconfig());
});
afterAll(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true });
});

const server = () => ({ upstream: { url: sandbox.url, token: sandbox.token }, kubeconfig });
faultProxyContract("the sandbox", server);
staleContract("the sandbox", () => ({
  server: server(),
  view: { ...view, upstream: { url: view.url, token: sandbox.token } },
}));
