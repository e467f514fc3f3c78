import {
  type BucketAccelerateStatus,
  type CORSRule,
  GetBucketAccelerateConfigurationCommand,
  GetBucketAclCommand,
  GetBucketCorsCommand,
  GetBucketOwnershipControlsCommand,
  GetBucketPolicyCommand,
  GetBucketWebsiteCommand,
  type Grant,
  type ObjectOwnership,
  PutBucketAccelerateConfigurationCommand,
  PutBucketAclCommand,
  PutBucketCorsCommand,
  PutBucketOwnershipControlsCommand,
  PutBucketPolicyCommand,
  PutBucketWebsiteCommand,
  type S3Client,
  type WebsiteConfiguration,
} from "@aws-sdk/client-s3";
import { orUndefined, type SettingSample } from "./setting-sample.ts";

const putPolicy = (s3: S3Client, Bucket: string, policy: object) =>
  s3.send(new PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify(policy) }));
const tlsOnly = {
  Version: "2012-10-17",
  Id: "access",
  Statement: [
    {
      Sid: "TlsOnly",
      Effect: "Deny",
      Principal: "*",
      Action: "s3:*",
      Resource: ["arn:aws:s3:::some", "arn:aws:s3:::some/*"],
      Condition: { Bool: { "aws:SecureTransport": false } },
    },
    {
      Sid: "Read",
      Effect: "Allow",
      Principal: { AWS: ["123456789012", "arn:aws:iam::210987654321:role/reader"] },
      Action: ["s3:GetObject", "s3:ListBucket"],
      Resource: ["arn:aws:s3:::some", "arn:aws:s3:::some/*"],
    },
  ],
};
const logsOnly = {
  Version: "2012-10-17",
  Statement: {
    Effect: "Allow",
    Principal: { Service: "logging.s3.amazonaws.com" },
    Action: "s3:PutObject",
    Resource: "arn:aws:s3:::some/logs/*",
    Condition: { NumericLessThan: { "s3:TlsVersion": 1.2 } },
  },
};

const putCors = (s3: S3Client, Bucket: string, CORSRules: CORSRule[]) =>
  s3.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules } }));
const uploads = {
  ID: "uploads",
  AllowedMethods: ["PUT", "POST"],
  AllowedOrigins: ["https://app.example.com", "https://*.example.org"],
  AllowedHeaders: ["Authorization", "x-amz-*"],
  ExposeHeaders: ["ETag"],
  MaxAgeSeconds: 600,
};
const everyone = { AllowedMethods: ["GET"], AllowedOrigins: ["*"] };

const putOwnership = (s3: S3Client, Bucket: string, ObjectOwnership: ObjectOwnership) =>
  s3.send(
    new PutBucketOwnershipControlsCommand({ Bucket, OwnershipControls: { Rules: [{ ObjectOwnership }] } }),
  );

/** The owner of all buckets of the server. */
const owner = { ID: "75aa57f09aa0c8caeab4f8c24e99d10f8e7faeebf76c078efc7c6caea54ba06a" };
const ownersGrant = {
  Grantee: { Type: "CanonicalUser" as const, ...owner },
  Permission: "FULL_CONTROL" as const,
};
const groups = "http://acs.amazonaws.com/groups";
const logGrant = {
  Grantee: { Type: "Group" as const, URI: `${groups}/s3/LogDelivery` },
  Permission: "WRITE" as const,
};
const readersGrant = {
  Grantee: { Type: "CanonicalUser" as const, ID: "a1b2c3" },
  Permission: "READ_ACP" as const,
};
const putGrants = (s3: S3Client, Bucket: string, Grants: Grant[]) =>
  s3.send(new PutBucketAclCommand({ Bucket, AccessControlPolicy: { Owner: owner, Grants } }));

const site = {
  IndexDocument: { Suffix: "index.html" },
  ErrorDocument: { Key: "errors/404.html" },
  RoutingRules: [
    {
      Condition: { HttpErrorCodeReturnedEquals: "404", KeyPrefixEquals: "docs/" },
      Redirect: {
        HostName: "docs.example.com",
        HttpRedirectCode: "302",
        Protocol: "https" as const,
        ReplaceKeyPrefixWith: "documents/",
      },
    },
    { Redirect: { ReplaceKeyWith: "moved.html" } },
  ],
};
const putWebsite = (s3: S3Client, Bucket: string, WebsiteConfiguration: WebsiteConfiguration) =>
  s3.send(new PutBucketWebsiteCommand({ Bucket, WebsiteConfiguration }));

const putAccelerate = (s3: S3Client, Bucket: string, Status: BucketAccelerateStatus) =>
  s3.send(new PutBucketAccelerateConfigurationCommand({ Bucket, AccelerateConfiguration: { Status } }));

/** Samples of the settings that define who may do what with a bucket, and from where. */
export const accessSamples: readonly SettingSample[] = [
  {
    name: "policy",
    specs: [{ policy: JSON.stringify(tlsOnly, null, 2) }, { policy: JSON.stringify(logsOnly) }],
    states: [tlsOnly, logsOnly],
    without: undefined,
    read: (s3, Bucket) =>
      orUndefined(
        s3
          .send(new GetBucketPolicyCommand({ Bucket }))
          .then(({ Policy = "" }) => JSON.parse(Policy) as unknown),
      ),
    write: (s3, Bucket) => putPolicy(s3, Bucket, Object.fromEntries(Object.entries(tlsOnly).reverse())),
    drift: (s3, Bucket) => putPolicy(s3, Bucket, { ...tlsOnly, Statement: tlsOnly.Statement.slice(1) }),
  },
  {
    name: "cors",
    specs: [
      {
        cors: {
          corsRules: [
            {
              id: "uploads",
              allowedMethods: ["PUT", "POST"],
              allowedOrigins: ["https://app.example.com", "https://*.example.org"],
              allowedHeaders: ["Authorization", "x-amz-*"],
              exposeHeaders: ["ETag"],
              maxAgeSeconds: 600,
            },
            { allowedMethods: ["GET"], allowedOrigins: ["*"] },
          ],
        },
      },
      { cors: { corsRules: [{ allowedMethods: ["HEAD", "DELETE"], allowedOrigins: ["http://localhost"] }] } },
    ],
    states: [
      [uploads, everyone],
      [{ AllowedMethods: ["HEAD", "DELETE"], AllowedOrigins: ["http://localhost"] }],
    ],
    without: undefined,
    read: (s3, Bucket) =>
      orUndefined(s3.send(new GetBucketCorsCommand({ Bucket })).then((answer) => answer.CORSRules)),
    write: (s3, Bucket) => putCors(s3, Bucket, [uploads, everyone]),
    drift: (s3, Bucket) => putCors(s3, Bucket, [everyone, uploads]),
  },
  {
    name: "ownershipControls",
    specs: [
      { ownershipControls: { rules: [{ objectOwnership: "BucketOwnerPreferred" }] } },
      { ownershipControls: { rules: [{ objectOwnership: "BucketOwnerEnforced" }] } },
    ],
    states: [
      { Rules: [{ ObjectOwnership: "BucketOwnerPreferred" }] },
      { Rules: [{ ObjectOwnership: "BucketOwnerEnforced" }] },
    ],
    without: undefined,
    read: (s3, Bucket) =>
      orUndefined(
        s3.send(new GetBucketOwnershipControlsCommand({ Bucket })).then((answer) => answer.OwnershipControls),
      ),
    write: (s3, Bucket) => putOwnership(s3, Bucket, "BucketOwnerPreferred"),
    drift: (s3, Bucket) => putOwnership(s3, Bucket, "ObjectWriter"),
  },
  {
    name: "acl",
    specs: [
      {
        acl: {
          grants: [
            { grantee: { type: "Group", uri: `${groups}/s3/LogDelivery` }, permission: "WRITE" },
            { grantee: { type: "CanonicalUser", id: "a1b2c3" }, permission: "READ_ACP" },
            { grantee: { type: "CanonicalUser", id: owner.ID }, permission: "FULL_CONTROL" },
          ],
        },
      },
      { acl: { canned: "public-read" } },
    ],
    states: [
      [logGrant, readersGrant, ownersGrant],
      [ownersGrant, { Grantee: { Type: "Group", URI: `${groups}/global/AllUsers` }, Permission: "READ" }],
    ],
    without: [ownersGrant],
    read: async (s3, Bucket) => (await s3.send(new GetBucketAclCommand({ Bucket }))).Grants,
    write: (s3, Bucket) => putGrants(s3, Bucket, [logGrant, readersGrant, ownersGrant]),
    drift: (s3, Bucket) => putGrants(s3, Bucket, [readersGrant, ownersGrant]),
  },
  {
    name: "website",
    specs: [
      {
        website: {
          indexDocument: { suffix: "index.html" },
          errorDocument: { key: "errors/404.html" },
          routingRules: [
            {
              condition: { httpErrorCodeReturnedEquals: "404", keyPrefixEquals: "docs/" },
              redirect: {
                hostName: "docs.example.com",
                httpRedirectCode: "302",
                protocol: "https",
                replaceKeyPrefixWith: "documents/",
              },
            },
            { redirect: { replaceKeyWith: "moved.html" } },
          ],
        },
      },
      { website: { redirectAllRequestsTo: { hostName: "www.example.com", protocol: "http" } } },
    ],
    states: [site, { RedirectAllRequestsTo: { HostName: "www.example.com", Protocol: "http" } }],
    without: undefined,
    read: (s3, Bucket) =>
      orUndefined(
        s3
          .send(new GetBucketWebsiteCommand({ Bucket }))
          .then(({ IndexDocument, ErrorDocument, RedirectAllRequestsTo, RoutingRules }) => ({
            IndexDocument,
            ErrorDocument,
            RedirectAllRequestsTo,
            RoutingRules,
          })),
      ),
    write: (s3, Bucket) => putWebsite(s3, Bucket, site),
    drift: (s3, Bucket) => putWebsite(s3, Bucket, { ...site, RoutingRules: site.RoutingRules.toReversed() }),
  },
  {
    name: "accelerate",
    specs: [{ accelerate: { status: "Enabled" } }, { accelerate: { status: "Suspended" } }],
    states: ["Enabled", "Suspended"],
    without: "Suspended",
    read: async (s3, Bucket) =>
      (await s3.send(new GetBucketAccelerateConfigurationCommand({ Bucket }))).Status,
    write: (s3, Bucket) => putAccelerate(s3, Bucket, "Enabled"),
    drift: (s3, Bucket) => putAccelerate(s3, Bucket, "Suspended"),
  },
];
