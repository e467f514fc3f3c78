import { fromTemporaryCredentials } from "@aws-sdk/credential-providers";
import { expect, test, vi } from "vitest";
import { s3ConfigSchema } from "./config.ts";
import { bucketHandle, s3ClientOf } from "./testing/bucket-handle.ts";
import { expectRefusal } from "./testing/bucket-scene.ts";
import { bucketSceneOfFile } from "./testing/bucket-scene.fixture.ts";

/* The server of the tests gives every account buckets of its own, so the account shows which role a request used. */
const scene = await bucketSceneOfFile();
const roleArn = "arn:aws:iam::222222222222:role/buckets-default";

/** The bucket of this name in the account of the role. */
const inAccount = (name: string) => {
  const { url: endpoint, region } = scene.server;
  const credentials = fromTemporaryCredentials({
    masterCredentials: scene.server,
    params: { RoleArn: roleArn },
    clientConfig: { endpoint, region },
  });
  return bucketHandle(s3ClientOf(scene.server, credentials), name);
};
const rolesAsked = () =>
  scene.proxy.calls
    .filter(({ body }) => body.includes("Action=AssumeRole"))
    .map(({ body }) => new URLSearchParams(body));

test("a role is assumed with the keys of the Secret, for the namespace as external id, once for many runs", async () => {
  const object = await scene.stableObject({ assumeRole: { roleArn } });
  expect(await object.bucket.state()).toBeUndefined();
  expect(await inAccount(object.bucketName).state()).toBeDefined();
  await object.reconcile();
  expect(rolesAsked().map((asked) => [asked.get("RoleArn"), asked.get("ExternalId")])).toEqual([
    [roleArn, "default"],
  ]);
});

test("objects with other roles, or none, wait for themselves alone when the server asks for fewer requests", async () => {
  const accounts = [];
  for (const spec of [{}, { assumeRole: { roleArn } }, { assumeRole: { roleArn: `${roleArn}2` } }])
    accounts.push((await scene.stableObject(spec)).account);
  expect(new Set(accounts).size).toBe(3);
});

test.each(["AccessDenied", "ExpiredToken"])("a role that is refused (%s) is waited for", async (code) => {
  const object = scene.object({ assumeRole: { roleArn: `${roleArn}-${code}` } });
  scene.proxy.fault = ({ body }) =>
    body.includes("Action=AssumeRole")
      ? {
          status: 403,
          body: `<ErrorResponse><Error><Code>${code}</Code><Message>m</Message></Error></ErrorResponse>`,
        }
      : "none";
  const error = await expectRefusal(object.reconcile(), "RoleRefused");
  expect(error.message).toContain(code);
  expect(error.message).toContain('external id "default"');
});

test("with the function's own credentials, only roles that its operator allows are assumed", async () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", scene.server.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", scene.server.secretAccessKey);
  const own = { credentialsSecret: undefined };
  const refused = scene.object({ ...own, assumeRole: { roleArn: `${roleArn}-other` } });
  expect((await expectRefusal(refused.reconcile(), "RoleNotAllowed")).message).toContain("DROVER_S3_ROLES");
  expect(scene.proxy.calls).toEqual([]);
  const allowed = scene.object({ ...own, assumeRole: { roleArn } });
  await allowed.reconcileUntilStable();
  expect(await inAccount(allowed.bucketName).state()).toBeDefined();
});

test("DROVER_S3_ROLES is a list of ARNs", () => {
  const roles = (s3Roles: string) => s3ConfigSchema.parse({ s3Roles }).s3Roles;
  expect(roles("")).toEqual([]);
  expect(roles(" a/{namespace}, b ,")).toEqual(["a/{namespace}", "b"]);
});
