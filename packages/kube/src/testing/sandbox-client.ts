import { startSandbox } from "@drover/sandbox";
import { onTestFinished } from "vitest";
import type { NewObject } from "../client/client.ts";
import { connect } from "../client/connect.ts";

/** An API server and a client of it, until the current test has ended. */
export async function sandboxClient() {
  const sandbox = await startSandbox({});
  const client = await connect({ server: sandbox.url, token: sandbox.token });
  onTestFinished(async () => {
    await client.close();
    await sandbox.close();
  });
  return { sandbox, client };
}
export type SandboxClient = Awaited<ReturnType<typeof sandboxClient>>;

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
