import { GetBucketAclCommand, type Grant, type Permission, PutBucketAclCommand } from "@aws-sdk/client-s3";
import { expect, test } from "vitest";
import { readyOf, type TestBucket } from "../../../testing/bucket-scene.ts";
import { bucketSceneOfFile } from "../../../testing/bucket-scene.fixture.ts";
import { aclSpec } from "./acl.ts";

const scene = await bucketSceneOfFile();

const ID = "75aa57f09aa0c8caeab4f8c24e99d10f8e7faeebf76c078efc7c6caea54ba06a";
const ownersGrant: Grant = { Grantee: { Type: "CanonicalUser", ID }, Permission: "FULL_CONTROL" };
const group = (name: string, permission: Permission, of = "global"): Grant => ({
  Grantee: { Type: "Group", URI: `http://acs.amazonaws.com/groups/${of}/${name}` },
  Permission: permission,
});
const putGrants = ({ bucketName: Bucket }: TestBucket, Grants: Grant[]) =>
  scene.s3.send(new PutBucketAclCommand({ Bucket, AccessControlPolicy: { Owner: { ID }, Grants } }));
const grantsOf = async ({ bucketName: Bucket }: TestBucket) =>
  (await scene.s3.send(new GetBucketAclCommand({ Bucket }))).Grants;

const specOf = (objectOwnership: "BucketOwnerEnforced" | "BucketOwnerPreferred") => ({
  ownershipControls: { rules: [{ objectOwnership }] },
});
const accessWrites = () => scene.proxy.writes().filter((each) => /Acl|Ownership/.test(each));

/* As https://docs.aws.amazon.com/AmazonS3/latest/userguide/acl-overview.html#canned-acl lists them. */
test.each([
  ["private", [ownersGrant]],
  ["public-read", [group("AllUsers", "READ"), ownersGrant]],
  ["public-read-write", [group("AllUsers", "WRITE"), ownersGrant, group("AllUsers", "READ")]],
  ["authenticated-read", [ownersGrant, group("AuthenticatedUsers", "READ")]],
  [
    "log-delivery-write",
    [group("LogDelivery", "WRITE", "s3"), ownersGrant, group("LogDelivery", "READ_ACP", "s3")],
  ],
] as const)("The canned ACL %s is its grants, in any order", async (canned, grants) => {
  const object = scene.object({ adopt: "IfUnowned", acl: { canned } });
  await object.bucket.make();
  await putGrants(object, [...grants]);
  await object.reconcileUntilStable();
  expect(scene.proxy.writes()).toEqual(["PutBucketTagging"]);
  await putGrants(object, [...grants, group("AllUsers", "READ_ACP")]);
  expect(readyOf(await object.reconcile())).toMatchObject({ reason: "Drifted" });
});

test("Grants in another order, and the names of grantees, are no drift", async () => {
  const object = await scene.stableObject({
    acl: {
      grants: [
        { grantee: { type: "Group", uri: group("AllUsers", "READ").Grantee?.URI }, permission: "READ" },
        { grantee: { type: "CanonicalUser", id: ID }, permission: "FULL_CONTROL" },
      ],
    },
  });
  const named = {
    ...ownersGrant,
    Grantee: { ...ownersGrant.Grantee, Type: "CanonicalUser" as const, DisplayName: "me" },
  };
  await putGrants(object, [named, group("AllUsers", "READ")]);
  scene.proxy.forget();
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  expect(scene.proxy.writes()).toEqual([]);
});

test("Another permission is drift", async () => {
  const object = await scene.stableObject({ acl: { canned: "public-read" } });
  await putGrants(object, [{ ...ownersGrant, Permission: "READ" }, group("AllUsers", "READ")]);
  expect(readyOf(await object.reconcile())?.message).toContain("FULL_CONTROL");
});

test("A list of grants that is no longer in the spec makes the bucket private", async () => {
  const grantee = { type: "CanonicalUser" as const, id: "a1b2c3" };
  const object = await scene.stableObject({ acl: { grants: [{ grantee, permission: "FULL_CONTROL" }] } });
  object.spec = { ...object.spec, acl: undefined };
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  expect(await grantsOf(object)).toEqual([ownersGrant]);
});

test("A server without ids of owners is no reason to take a group for the owner", async () => {
  const list = (...grantees: string[]) => ({
    status: 200,
    body: `<AccessControlPolicy><Owner/><AccessControlList>${grantees.join("")}</AccessControlList></AccessControlPolicy>`,
  });
  const grantee = (type: string, fields: string, permission: string) =>
    `<Grant><Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="${type}">${fields}</Grantee><Permission>${permission}</Permission></Grant>`;
  const object = await scene.stableObject({ acl: { canned: "private" } });
  scene.proxy.faultOn("GetBucketAcl", list(grantee("CanonicalUser", "", "FULL_CONTROL")));
  expect(readyOf(await object.reconcile())).toBeUndefined();
  scene.proxy.faultOn("GetBucketAcl", list(grantee("Group", "<URI>all</URI>", "FULL_CONTROL")));
  expect(readyOf(await object.reconcile())).toMatchObject({ reason: "Drifted" });
});

// https://docs.aws.amazon.com/AmazonS3/latest/userguide/about-object-ownership.html: the errors of S3, which moto does
// not have.
test("An ACL that S3 refuses because of the ownership controls is an invalid setting", async () => {
  scene.proxy.faultOn("PutBucketAcl", { status: 400, code: "AccessControlListNotSupported" });
  const result = await scene
    .object({ acl: { canned: "public-read" }, versioning: "Enabled" })
    .reconcileUntilStable();
  expect(readyOf(result)).toMatchObject({ reason: "InvalidSetting" });
  expect(readyOf(result)?.message).toContain("Correct spec.acl.");
  expect(scene.proxy.writes()).toContain("PutBucketVersioning");
});

test("Ownership controls that S3 refuses because of the ACL are an invalid setting", async () => {
  scene.proxy.faultOn("PutBucketOwnershipControls", {
    status: 400,
    code: "InvalidBucketAclWithObjectOwnership",
  });
  const result = await scene.object(specOf("BucketOwnerEnforced")).reconcileUntilStable();
  expect(readyOf(result)).toMatchObject({ reason: "InvalidSetting" });
  expect(readyOf(result)?.message).toContain("Correct spec.ownershipControls.");
});

test("Grants are removed before BucketOwnerEnforced, and written after it has ended", async () => {
  const object = await scene.stableObject({
    acl: { canned: "public-read" },
    ...specOf("BucketOwnerPreferred"),
  });
  expect(accessWrites()).toEqual(["PutBucketOwnershipControls", "PutBucketAcl"]);
  scene.proxy.forget();
  object.spec = { ...object.spec, acl: undefined, ...specOf("BucketOwnerEnforced") };
  await object.reconcileUntilStable();
  expect(accessWrites()).toEqual(["PutBucketAcl", "PutBucketOwnershipControls"]);
  scene.proxy.forget();
  object.spec = { ...object.spec, acl: { canned: "public-read" }, ...specOf("BucketOwnerPreferred") };
  await object.reconcileUntilStable();
  expect(accessWrites()).toEqual(["PutBucketOwnershipControls", "PutBucketAcl"]);
});

test("A spec names either a canned ACL or grants", () => {
  const grants = [{ grantee: { type: "CanonicalUser", id: ID }, permission: "READ" }];
  expect(aclSpec.safeParse({ grants }).success).toBe(true);
  for (const both of [{}, { canned: "private", grants }])
    expect(aclSpec.safeParse(both).error?.issues[0]?.message).toContain("either canned or grants");
});
