import { customResourceDefinition } from "@drover/controller";
import { builtin, connect, installCrd, type KubeClient } from "@drover/kube";
import { type Sandbox, type SandboxOptions, startSandbox } from "@drover/sandbox";
import { afterAll } from "vitest";

interface Contents {
  /** Kinds of one's own that the API server serves. */
  readonly kinds?: readonly Parameters<typeof customResourceDefinition>[0][];
  /** Namespaces beside `default`. */
  readonly namespaces?: readonly string[];
}

/** An API server for the tests of a file, and a client of it; both end with the file. */
export async function sandboxOfFile({
  kinds = [],
  namespaces = [],
  ...options
}: SandboxOptions & Contents = {}): Promise<{ readonly sandbox: Sandbox; readonly client: KubeClient }> {
  const sandbox = await startSandbox(options);
  const client = await connect({ server: sandbox.url, token: sandbox.token, userAgent: "test" });
  afterAll(async () => {
    await client.close();
    await sandbox.close();
  });
  for (const kind of kinds) await installCrd(client, { ...customResourceDefinition(kind) });
  for (const name of namespaces) await client.create(builtin.namespace, { metadata: { name } });
  return { sandbox, client };
}
