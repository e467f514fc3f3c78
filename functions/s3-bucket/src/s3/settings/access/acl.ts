import {
  type BucketCannedACL,
  GetBucketAclCommand,
  type Grant as ApiGrant,
  type Owner,
  PutBucketAclCommand,
} from "@aws-sdk/client-s3";
import { checkedAtRun } from "@drover/controller";
import type { Setting, SettingValue } from "@drover/external";
import { z } from "zod";
import type { BucketCall } from "../../bucket-call.ts";
import { toApi } from "../api-shape.ts";
import { valueSetting } from "../bucket-setting.ts";
import { fieldsOf, listOf, sorted } from "../canonical.ts";

const grant = z.object({
  // No emailAddress, which S3 no longer takes, and no displayName, which it no longer returns.
  grantee: z.object({
    type: z.enum(["CanonicalUser", "Group"]),
    id: z.string().min(1).max(255).optional().describe("Of a CanonicalUser, the canonical user id."),
    uri: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe("Of a Group, such as http://acs.amazonaws.com/groups/global/AllUsers."),
  }),
  permission: z.enum(["FULL_CONTROL", "READ", "READ_ACP", "WRITE", "WRITE_ACP"]),
});
type Grant = z.output<typeof grant>;

// The parameters grantRead, grantWrite and so on are left out: they are another spelling of grants.
export const aclSpec = z
  .object({
    canned: z
      .enum(["private", "public-read", "public-read-write", "authenticated-read", "log-delivery-write"])
      .optional()
      .describe("Grants by a name: the bucket's owner has FULL_CONTROL, and others what the name says."),
    grants: z
      .array(grant)
      .min(1)
      .max(100)
      .optional()
      .describe(
        "The complete list, in any order. Name the bucket's owner too, who otherwise loses its grant.",
      ),
  })
  .refine(({ canned, grants }) => (canned === undefined) !== (grants === undefined), {
    error: "Name either canned or grants, and not both.",
    ...checkedAtRun,
  })
  .describe("The bucket's access control list. S3 refuses it if ownershipControls are BucketOwnerEnforced.");
type Acl = z.output<typeof aclSpec>;

/** In place of the id of the bucket's owner, which is not known before the list is read. */
const owner = { type: "CanonicalUser", id: "owner" } as const;
const ownersOwn: Grant = { grantee: owner, permission: "FULL_CONTROL" };
const group = (name: string, permission: Grant["permission"], of = "global"): Grant => ({
  grantee: { type: "Group", uri: `http://acs.amazonaws.com/groups/${of}/${name}` },
  permission,
});

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/acl-overview.html#canned-acl */
const cannedGrants: Readonly<Record<NonNullable<Acl["canned"]>, readonly Grant[]>> = {
  private: [ownersOwn],
  "public-read": [ownersOwn, group("AllUsers", "READ")],
  "public-read-write": [ownersOwn, group("AllUsers", "READ"), group("AllUsers", "WRITE")],
  "authenticated-read": [ownersOwn, group("AuthenticatedUsers", "READ")],
  "log-delivery-write": [
    ownersOwn,
    group("LogDelivery", "READ_ACP", "s3"),
    group("LogDelivery", "WRITE", "s3"),
  ],
};

/** The grants of a bucket. If the spec lists them, they have the owner's own id, and otherwise "owner". */
export function acl(call: BucketCall, wanted: Acl | undefined): Setting {
  let current: Owner | undefined;
  const { canned = "private", grants } = wanted ?? {};
  return valueSetting(call, {
    name: "acl",
    wanted: wanted && { grants: grants ?? cannedGrants[canned] },
    async read({ client, bucket, http }) {
      const { Owner, Grants = [] } = await client.send(new GetBucketAclCommand(bucket), http);
      current = Owner;
      if (grants !== undefined) return { Grants };
      const isOwner = ({ Grantee }: ApiGrant) => Grantee?.Type === owner.type && Grantee.ID === Owner?.ID;
      return { Grants: Grants.map((each) => (isOwner(each) ? { ...each, Grantee: owner } : each)) };
    },
    write: ({ client, bucket, http }, value) =>
      client.send(
        new PutBucketAclCommand({
          ...bucket,
          ...(grants === undefined
            ? // The SDK's type has no log-delivery-write, which S3 takes.
              { ACL: canned as BucketCannedACL }
            : { AccessControlPolicy: { ...toApi(value), Owner: current } }),
        }),
        http,
      ),
    // A bucket always has an access control list.
    remove: ({ client, bucket, http }) =>
      client.send(new PutBucketAclCommand({ ...bucket, ACL: "private" }), http),
    removedAs: { grants: cannedGrants.private },
    canonical: (value) => ({ grants: sorted(listOf(fieldsOf(value)["grants"]).map(canonicalGrant)) }),
  });
}

/** Without the grantee's name, which some servers return. */
function canonicalGrant(value: SettingValue): SettingValue {
  const { grantee, permission } = fieldsOf(value);
  const { type, id, uri } = fieldsOf(grantee);
  return { grantee: { type, id, uri }, permission };
}
