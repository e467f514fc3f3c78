import { type Sandbox, type SandboxOptions, startSandbox } from "@drover/sandbox";
import type { KubeClient, NewObject } from "../client/client.ts";
import { connect } from "../client/connect.ts";

/** An API server of its own, and a client of it. */
export interface SandboxClient extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly client: KubeClient;
}

export async function sandboxClient(options: SandboxOptions = {}): Promise<SandboxClient> {
  const sandbox = await startSandbox(options);
  const client = await connect({ server: sandbox.url, token: sandbox.token });
  return {
    sandbox,
    client,
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await sandbox.close();
    },
  };
}

/** The definition of the buckets of `objects.ts`. */
export const bucketDefinition: NewObject = {
  metadata: { name: "buckets.s3.example.com" },
  spec: {
    group: "s3.example.com",
    scope: "Namespaced",
    names: { plural: "buckets", singular: "bucket", kind: "Bucket", listKind: "BucketList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", properties: { region: { type: "string" } } },
              status: { type: "object", properties: { arn: { type: "string" } } },
            },
          },
        },
      },
    ],
  },
};
