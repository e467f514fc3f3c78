import { startSandbox } from "@drover/sandbox";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { folderOfFile } from "../../../packages/testing/src/folder.fixture.ts";
import { nodeContract } from "./node.contract.ts";

const kubeconfig = join(folderOfFile(), "kubeconfig");
nodeContract(async () => {
  const sandbox = await startSandbox();
  await writeFile(kubeconfig, sandbox.kubeconfig());
  return { kubeconfig, stop: () => sandbox.close() };
});
