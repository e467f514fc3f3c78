import { ApiError, builtin, type KubeClient, type ResourceRef } from "@drover/kube";
import { beforeEach, expect, it } from "vitest";
import { kubernetesAuthorizer, type ReadAuthorizer, type ReadAttributes } from "./read-authorizer.ts";

// The tests with a real API server are in read-authorizer.real.test.ts. Here: the number of its requests, and failures.

let now: number;
let reviews: string[];
let answer: (ref: ResourceRef) => Promise<unknown>;
let access: ReadAuthorizer;
const allow = (ref: ResourceRef) =>
  Promise.resolve(
    ref === builtin.tokenReview ? { authenticated: true, user: { username: "ann" } } : { allowed: true },
  );
beforeEach(() => {
  [now, reviews] = [0, []];
  answer = allow;
  const review: KubeClient["review"] = (ref) => {
    reviews.push(ref.kind);
    return answer(ref);
  };
  access = kubernetesAuthorizer({ review }, () => now);
});
const path = (name: string): ReadAttributes => ({ nonResourceAttributes: { path: name, verb: "get" } });
const metrics = path("/metrics");

it("a decision is cached for 10 seconds, for the same token and read only", async () => {
  expect([await access("a", metrics), await access("a", metrics)]).toEqual(["allowed", "allowed"]);
  expect(reviews).toEqual(["TokenReview", "SubjectAccessReview"]);
  await access("b", metrics);
  await access("a", path("/other"));
  expect(reviews).toHaveLength(6);
  now = 9_999;
  await access("a", metrics);
  expect(reviews).toHaveLength(6);
  now = 10_000;
  answer = () => Promise.resolve({ authenticated: false });
  expect(await access("a", metrics)).toMatchObject({ status: 401 });
});

it("a review has all user fields of the token, and the read", async () => {
  const groups = ["system:authenticated", "ops"];
  const user = { username: "ann", uid: "u-1", groups, extra: { scopes: ["a", "b"] } };
  const asked: unknown[] = [];
  const review: KubeClient["review"] = (ref, spec) => {
    asked.push(spec);
    return Promise.resolve(ref === builtin.tokenReview ? { authenticated: true, user } : { allowed: false });
  };
  const resourceAttributes = { verb: "get", group: "", resource: "pods", namespace: "a" };
  const sender = kubernetesAuthorizer({ review }, () => now);
  expect(await sender("token", { resourceAttributes })).toMatchObject({ status: 403 });
  const { username, ...more } = user;
  expect(asked).toEqual([{ token: "token" }, { user: username, ...more, resourceAttributes }]);
});

it("a request without a token causes no review", async () => {
  expect(await access(undefined, metrics)).toMatchObject({ status: 401 });
  expect(reviews).toEqual([]);
});

it("concurrent equal reviews are sent once, and at most eight different ones at a time", async () => {
  const free = Promise.withResolvers<undefined>();
  answer = async () => (await free.promise, { authenticated: false });
  const same = Array.from({ length: 20 }, () => access("same", metrics));
  const others = Array.from({ length: 20 }, (_, i) => access(`other ${i}`, metrics));
  expect(reviews).toHaveLength(8);
  free.resolve(undefined);
  const statuses = (await Promise.all([...same, ...others])).map((one) => one !== "allowed" && one.status);
  expect(statuses.filter((one) => one === 401)).toHaveLength(27);
  expect(statuses.filter((one) => one === 503)).toHaveLength(13);
});

it("a flood of wrong tokens does not displace a right one, and the cache is bounded", async () => {
  await access("right", metrics);
  answer = () => Promise.resolve({ authenticated: false });
  for (let i = 0; i < 1_100; i++) await access(`wrong ${i}`, metrics);
  const asked = reviews.length;
  expect(await access("right", metrics)).toBe("allowed");
  expect(reviews).toHaveLength(asked);
  // The oldest wrong one was evicted, the newest was not.
  await access("wrong 1099", metrics);
  expect(reviews).toHaveLength(asked);
  await access("wrong 0", metrics);
  expect(reviews).toHaveLength(asked + 1);
});

it.each<[string, unknown, unknown]>([
  ["an answer with another schema", {}, 401],
  ["a user without a name", { authenticated: true, user: {} }, 401],
  ["not authenticated", { authenticated: false, user: { username: "ann" } }, 401],
])("%s is refused", async (_what, status, expected) => {
  answer = () => Promise.resolve(status);
  expect(await access("a", metrics)).toMatchObject({ status: expected });
});

it("a failure is not cached, and has advice", async () => {
  answer = () =>
    Promise.reject(
      new ApiError({
        kind: "Forbidden",
        status: 403,
        reason: "Forbidden",
        serverMessage: "no",
        request: "POST /apis/authentication.k8s.io/v1/tokenreviews",
      }),
    );
  expect(await access("a", metrics)).toMatchObject({
    status: 503,
    message: expect.stringMatching(/may not create TokenReviews.*DROVER_METRICS_AUTH=none/) as string,
  });
  answer = () => Promise.reject(new Error("token a is secret"));
  expect(await access("a", metrics)).toEqual({
    status: 503,
    message: "The API server cannot check the sender now. Send the request again.",
  });
  answer = allow;
  expect(await access("a", metrics)).toBe("allowed");
});
