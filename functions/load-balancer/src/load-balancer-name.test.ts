import { expect, test } from "vitest";
import { loadBalancerNameOf, loadBalancerNameProblem, targetGroupName } from "./load-balancer-name.ts";

test.each([
  ["a", true],
  ["web-1", true],
  ["x".repeat(32), true],
  ["x".repeat(33), false],
  ["", false],
  ["-web", false],
  ["web-", false],
  ["web.1", false],
  ["internal-web", false],
])("the name %j is valid: %s", (name, isValid) => {
  expect(loadBalancerNameProblem(name) === undefined).toBe(isValid);
});

test("a default name is valid and unique, however long the names of namespace and object are", () => {
  const names = ["a", "b"].map((last) =>
    loadBalancerNameOf({}, { namespace: "n".repeat(63), name: `${"m".repeat(60)}${last}` }),
  );
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(loadBalancerNameProblem(name)).toBeUndefined();
  expect(loadBalancerNameOf({}, { namespace: "shop", name: "web" })).toBe("shop-web");
  expect(loadBalancerNameOf({ loadBalancerName: "x" }, { namespace: "shop", name: "web" })).toBe("x");
});

test("target groups of two owners or ids have two names of at most 32 characters", () => {
  const names = [
    targetGroupName("u", "ip-TCP-80"),
    targetGroupName("v", "ip-TCP-80"),
    targetGroupName("u", "ip-TCP-81"),
  ];
  expect(new Set(names).size).toBe(3);
  for (const name of names) expect(name).toMatch(/^[a-z0-9-]{32}$/);
});
