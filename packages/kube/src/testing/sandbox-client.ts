import { startSandbox } from "@drover/sandbox";
import { onTestFinished } from "vitest";
import { crdOf } from "../../../testing/src/crd-of.fixture.ts";
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
export const bucketDefinition = crdOf({
  group: "s3.example.com",
  kind: "Bucket",
  openAPIV3Schema: {
    type: "object",
    properties: {
      spec: { type: "object", properties: { region: { type: "string" } } },
      status: { type: "object", properties: { arn: { type: "string" } } },
    },
  },
});
