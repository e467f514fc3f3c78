import { type Sandbox, type StaleView, startSandbox } from "@drover/sandbox";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { folderOfFile } from "../folder.fixture.ts";
import { faultProxyContract } from "./fault-proxy.contract.ts";
import { staleContract } from "./stale.contract.ts";

let sandbox: Sandbox;
let view: StaleView;
const kubeconfig = join(folderOfFile(), "kubeconfig");

beforeAll(async () => {
  sandbox = await startSandbox();
  view = await sandbox.staleView();
  await writeFile(kubeconfig, sandbox.kubeconfig());
});
afterAll(() => sandbox.close());

const server = () => ({ upstream: { url: sandbox.url, token: sandbox.token }, kubeconfig });
faultProxyContract("the sandbox", server);
staleContract("the sandbox", () => ({
  server: server(),
  view: { ...view, upstream: { url: view.url, token: sandbox.token } },
}));
