import type { ObjectMetadata } from "@drover/controller";
import { expect, it } from "vitest";
import { authorAnnotations, authorOf, formatGroups } from "./authors.ts";

const named = (user?: string, groups?: string): ObjectMetadata => ({
  name: "a",
  uid: "u",
  resourceVersion: "1",
  annotations: {
    ...(user !== undefined && { [authorAnnotations.user]: user }),
    ...(groups !== undefined && { [authorAnnotations.groups]: groups }),
  },
});

it.each(
  [[], ["a"], ["a", "b"], ["a\nb", "c"], ["a\\", "nb"], ["\\n"], ["a", ""]].map(
    (groups) => [groups] as const,
  ),
)("an author's groups are parsed as they were formatted: %j", (groups) => {
  expect(authorOf(named("ada", formatGroups(groups)))).toEqual({ user: "ada", groups });
});

it("there is no author without a name, or with invalid groups", () => {
  expect(authorOf(named("ada"))).toEqual({ user: "ada", groups: [] });
  expect(authorOf(named(undefined, "a"))).toBeUndefined();
  expect(authorOf(named("", "a"))).toBeUndefined();
  expect(authorOf({ name: "a", uid: "u", resourceVersion: "1" })).toBeUndefined();
  for (const text of ["a\\", "a\\b", "a\n\\x"]) expect(authorOf(named("ada", text))).toBeUndefined();
});
