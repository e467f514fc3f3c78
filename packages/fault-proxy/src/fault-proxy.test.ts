import { type Sandbox, startSandbox } from "@drover/sandbox";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { faultProxyContract } from "./fault-proxy.contract.ts";

let sandbox: Sandbox;
let folder: string;
let kubeconfig: string;

beforeAll(async () => {
  sandbox = await startSandbox();
  folder = await mkdtemp(join(tmpdir(), "drover-fault-proxy-"));
  kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, sandbox.kubeconfig());
});
afterAll(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true });
});

faultProxyContract("the sandbox", () => ({ upstream: { url: sandbox.url }, kubeconfig }));
