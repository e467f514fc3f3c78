import type { SettingValue } from "@drover/external";
import { canonicalJson } from "@drover/json";
import { z } from "zod";
import { fieldsOf, listOf, sorted } from "../canonical.ts";

/** A part of a policy. Numbers and booleans have become strings, as conditions may also have them. */
const element: z.ZodType<SettingValue> = z.lazy(() =>
  z.union([z.string(), z.array(element), z.record(z.string(), element)]),
);
const document = z.record(z.string(), element);

function parsePolicy(text: string) {
  const json: unknown = JSON.parse(text, (_, part: unknown) =>
    typeof part === "object" && part !== null ? part : String(part),
  );
  return document.safeParse(json);
}

/** The reason why a text cannot be a policy, as a sentence. Undefined if it can be one: S3 checks the rest. */
export function policyProblem(text: string): string | undefined {
  try {
    const isObject = parsePolicy(text).success;
    return isObject
      ? undefined
      : "The policy is JSON, but not an object such as one with Version and Statement.";
  } catch (error) {
    return `The policy is not JSON: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

/**
 * A policy in which different spellings of one policy are the same. A statement has all elements, if only as an empty
 * list: a statement with one more condition is another statement. A text that cannot be a policy stays as it is.
 *
 * Spellings: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html
 */
export function canonicalPolicy(policy: SettingValue): SettingValue {
  if (typeof policy !== "string" || policyProblem(policy) !== undefined) return policy;
  const { Version = oldestVersion, Id = "", Statement, ...others } = parsePolicy(policy).data ?? {};
  return {
    Version,
    Id,
    // By Sid first: a statement that differs is compared with the one of its name.
    Statement: sorted(listOf(Statement).map(canonicalStatement), (each) => [
      fieldsOf(each)["Sid"] ?? "",
      each,
    ]),
    others: canonicalJson(others),
  };
}

/** The version of a policy that names none. */
const oldestVersion = "2008-10-17";

function canonicalStatement(statement: SettingValue): SettingValue {
  const { Sid = "", Effect = "", Principal, NotPrincipal, ...rest } = fieldsOf(statement);
  const { Action, NotAction, Resource, NotResource, Condition, ...others } = rest;
  return {
    Sid,
    Effect,
    Principal: canonicalPrincipal(Principal),
    NotPrincipal: canonicalPrincipal(NotPrincipal),
    Action: setOf(Action, lowerCase),
    NotAction: setOf(NotAction, lowerCase),
    Resource: setOf(Resource),
    NotResource: setOf(NotResource),
    Condition: canonicalCondition(Condition),
    others: canonicalJson(others),
  };
}

/** `"*"` is every AWS principal, and an account is its id or the ARN of its root. */
function canonicalPrincipal(principal: SettingValue = {}): SettingValue {
  const byKind = typeof principal === "string" ? { AWS: principal } : fieldsOf(principal);
  const sets = Object.entries(byKind).map(([kind, ids]) => [
    kind,
    setOf(ids, kind === "AWS" ? accountId : same),
  ]);
  return canonicalJson(Object.fromEntries(sets) as Record<string, SettingValue>);
}

const accountId = (principal: string): string =>
  /^arn:[\w-]+:iam::(\d{12}):root$/.exec(principal)?.[1] ?? principal;

/** By operator and key, of which upper and lower case are the same up to the name of a tag. */
function canonicalCondition(condition: SettingValue = {}): SettingValue {
  const operators = Object.entries(fieldsOf(condition)).flatMap(([operator, keys]) =>
    Object.entries(fieldsOf(keys)).map(([key, values]) => [operator, conditionKey(key), setOf(values)]),
  );
  return canonicalJson(sorted(operators));
}

const conditionKey = (key: string): string => key.replace(/^[^/]*/, lowerCase);

const lowerCase = (text: string): string => text.toLowerCase();
const same = (text: string): string => text;

/** The items of a list, or the one item that stands for it, each of them once. */
const setOf = (value: SettingValue | undefined, canonical = same): readonly SettingValue[] =>
  sorted([...new Set(listOf(value).map((item) => (typeof item === "string" ? canonical(item) : item)))]);
