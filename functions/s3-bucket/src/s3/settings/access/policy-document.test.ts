import { describe, expect, test } from "vitest";
import { policySpec } from "./policy.ts";
import { canonicalPolicy, policyProblem } from "./policy-document.ts";

const statement = {
  Sid: "Read",
  Effect: "Allow",
  Principal: { AWS: ["arn:aws:iam::123456789012:root", "arn:aws:iam::123456789012:user/a"] },
  Action: ["s3:GetObject", "s3:ListBucket"],
  Resource: ["arn:aws:s3:::b", "arn:aws:s3:::b/*"],
  Condition: {
    Bool: { "aws:SecureTransport": "true" },
    StringEquals: { "aws:SourceAccount": ["123456789012", "210987654321"] },
  },
};
const other = {
  Sid: "Write",
  Effect: "Deny",
  Principal: "*",
  Action: "s3:PutObject",
  Resource: "arn:aws:s3:::b/*",
};

const notFor = { Action: undefined, Resource: undefined };

const of = (...Statement: object[]) => canonicalPolicy(JSON.stringify({ Version: "2012-10-17", Statement }));
const document = (fields: object) => canonicalPolicy(JSON.stringify({ Statement: [statement], ...fields }));

describe("These are one policy:", () => {
  test.each<[string, unknown, unknown]>([
    ["fields in another order", of(statement), of(Object.fromEntries(Object.entries(statement).reverse()))],
    [
      "white space",
      of(statement),
      canonicalPolicy(JSON.stringify({ Version: "2012-10-17", Statement: statement }, null, 2)),
    ],
    ["statements in another order", of(statement, other), of(other, statement)],
    [
      "statements without a Sid in another order",
      of({ ...other, Sid: undefined }, statement),
      of(statement, { ...other, Sid: "" }),
    ],
    [
      "one item, or a list of one",
      of(other),
      of({ ...other, Action: [other.Action], Resource: [other.Resource] }),
    ],
    [
      "lists in another order",
      of(statement),
      of({ ...statement, Action: statement.Action.toReversed(), Resource: statement.Resource.toReversed() }),
    ],
    [
      "principals in another order",
      of(statement),
      of({ ...statement, Principal: { AWS: statement.Principal.AWS.toReversed() } }),
    ],
    ["an item twice", of(other), of({ ...other, Action: [other.Action, other.Action] })],
    ["actions in lower case", of(other), of({ ...other, Action: "s3:putobject" })],
    ["every principal", of(other), of({ ...other, Principal: { AWS: "*" } })],
    ["every principal, as a list", of(other), of({ ...other, Principal: { AWS: ["*"] } })],
    [
      "not every principal",
      of({ ...other, NotPrincipal: "*" }),
      of({ ...other, NotPrincipal: { AWS: ["*"] } }),
    ],
    [
      "an account's id, or its root",
      of({ ...other, Principal: { AWS: "123456789012" } }),
      of({ ...other, Principal: { AWS: "arn:aws-cn:iam::123456789012:root" } }),
    ],
    [
      "booleans in conditions",
      of(statement),
      of({ ...statement, Condition: { ...statement.Condition, Bool: { "aws:SecureTransport": [true] } } }),
    ],
    [
      "numbers in conditions",
      of({ ...other, Condition: { NumericEquals: { "s3:max-keys": 10 } } }),
      of({ ...other, Condition: { NumericEquals: { "s3:max-keys": ["10"] } } }),
    ],
    [
      "values of a condition in another order",
      of(statement),
      of({
        ...statement,
        Condition: {
          StringEquals: { "AWS:sourceAccount": ["210987654321", "123456789012"] },
          Bool: { "aws:securetransport": "true" },
        },
      }),
    ],
    [
      "what a statement is not for, in other words",
      of({ ...other, ...notFor, NotAction: ["s3:PutObject", "s3:GetObject"], NotResource: ["b", "a"] }),
      of({ ...other, ...notFor, NotAction: ["s3:getobject", "s3:putobject"], NotResource: ["a", "b"] }),
    ],
    ["no condition", of(other), of({ ...other, Condition: {} })],
    ["the oldest version", document({}), document({ Version: "2008-10-17" })],
    ["an empty Id", document({}), document({ Id: "" })],
  ])("%s", (_, first, second) => {
    expect(second).toEqual(first);
  });
});

describe("These are two policies:", () => {
  test.each<[string, unknown, unknown]>([
    ["another effect", of(other), of({ ...other, Effect: "Allow" })],
    ["one more statement", of(statement), of(statement, other)],
    [
      "one more condition",
      of(other),
      of({ ...other, Condition: { Bool: { "aws:SecureTransport": "true" } } }),
    ],
    [
      "another operator",
      of({ ...other, Condition: { Bool: { "aws:SecureTransport": "true" } } }),
      of({ ...other, Condition: { BoolIfExists: { "aws:SecureTransport": "true" } } }),
    ],
    [
      "keys of conditions that differ in the name of a tag",
      of({ ...other, Condition: { StringEquals: { "s3:ExistingObjectTag/a": "1" } } }),
      of({ ...other, Condition: { StringEquals: { "s3:ExistingObjectTag/A": "1" } } }),
    ],
    [
      "values of conditions that differ in case",
      of({ ...other, Condition: { StringEquals: { "s3:prefix": "a" } } }),
      of({ ...other, Condition: { StringEquals: { "s3:prefix": "A" } } }),
    ],
    ["Action and NotAction", of(other), of({ ...other, Action: undefined, NotAction: other.Action })],
    ["Principal and NotPrincipal", of(other), of({ ...other, Principal: undefined, NotPrincipal: "*" })],
    [
      "Resource and NotResource",
      of(other),
      of({ ...other, Resource: undefined, NotResource: other.Resource }),
    ],
    ["resources that differ in case", of(other), of({ ...other, Resource: other.Resource.toUpperCase() })],
    [
      "a service of an account's name",
      of({ ...other, Principal: { Service: "arn:aws:iam::123456789012:root" } }),
      of({ ...other, Principal: { Service: "123456789012" } }),
    ],
    ["another kind of principal", of(other), of({ ...other, Principal: { CanonicalUser: "*" } })],
    [
      "one more kind of principal",
      of(other),
      of({ ...other, Principal: { AWS: "*", Service: "s3.amazonaws.com" } }),
    ],
    [
      "another principal that a statement is not for",
      of({ ...other, Principal: undefined, NotPrincipal: { AWS: "123456789012" } }),
      of({ ...other, Principal: undefined, NotPrincipal: { AWS: "210987654321" } }),
    ],
    ["another Sid", of(other), of({ ...other, Sid: "write" })],
    ["an element of a statement that is not known", of(other), of({ ...other, Comment: "a" })],
    ["another version", document({ Version: "2012-10-17" }), document({})],
    ["an Id", document({}), document({ Id: "a" })],
    ["an element of the policy that is not known", document({}), document({ Comment: "a" })],
  ])("%s", (_, first, second) => {
    // As they are compared: only what the first one has.
    expect(second).not.toMatchObject(first as object);
    expect(first).not.toMatchObject(second as object);
  });
});

test("A text that is not JSON, or not an object, cannot be a policy", () => {
  expect(policyProblem('{"Version": ')).toMatch(/^The policy is not JSON: .*\.$/);
  for (const text of ["", "{'Version': 1}", "a: b"]) expect(policyProblem(text)).toContain("not JSON");
  for (const text of ["[]", "1", "null", '"{}"']) expect(policyProblem(text)).toContain("not an object");
  expect(policyProblem("{}")).toBeUndefined();
});

test("A text that cannot be a policy stays as it is", () => {
  expect(canonicalPolicy("no policy")).toBe("no policy");
});

test("A spec with such a text is refused, with the reason", () => {
  expect(policySpec.safeParse("{}").success).toBe(true);
  const messages = policySpec.safeParse("Version: 1").error?.issues.map(({ message }) => message);
  expect(messages).toEqual([expect.stringMatching(/^The policy is not JSON: /)]);
});

test("A statement that differs is compared with the one of the same Sid", () => {
  const drifted = of({ ...statement, Action: "s3:AbortMultipartUpload" }, { ...other, Action: "s3:Zap" });
  expect(drifted).toMatchObject({ Statement: [{ Sid: "Read" }, { Sid: "Write" }] });
  expect(of({ ...statement, Action: "s3:Zap" }, { ...other, Action: "s3:A" })).toMatchObject({
    Statement: [{ Sid: "Read" }, { Sid: "Write" }],
  });
});
