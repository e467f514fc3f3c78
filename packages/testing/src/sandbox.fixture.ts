import { connect, type KubeClient } from "@drover/kube";
import { type Sandbox, type SandboxOptions, startSandbox } from "@drover/sandbox";
import { afterAll } from "vitest";

/** An API server for the tests of a file, and a client of it; both end with the file. */
export async function sandboxOfFile(
  options: SandboxOptions = {},
): Promise<{ readonly sandbox: Sandbox; readonly client: KubeClient }> {
  const sandbox = await startSandbox(options);
  const client = await connect({ server: sandbox.url, token: sandbox.token, userAgent: "test" });
  afterAll(async () => {
    await client.close();
    await sandbox.close();
  });
  return { sandbox, client };
}
