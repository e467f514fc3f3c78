import type { Access } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import fc from "fast-check";
import { expect, it } from "vitest";
import { accessReviews, UnansweredReviewError } from "./access-reviews.ts";

const { signal } = new AbortController();
const access = (verb: string, namespace = "tea"): Access => ({
  verb,
  group: "",
  resource: "pods",
  namespace,
});

/** An API server that allows by its rules: a user or a group may do something in a namespace. */
function apiServer(rules: Set<string>) {
  let asked = 0;
  const review = (_ref: unknown, spec: Asked) => {
    asked++;
    const { user, groups, resourceAttributes: of } = spec;
    const allowed = [user, ...groups].some((name) => rules.has(`${name} ${of.verb} ${of.namespace ?? ""}`));
    return Promise.resolve({ allowed });
  };
  return { client: { review } as unknown as KubeClient, asked: () => asked };
}
interface Asked {
  readonly user: string;
  readonly groups: readonly string[];
  readonly resourceAttributes: { readonly verb: string; readonly namespace?: string };
}

it("answers for each author as the API server does, whatever it has allowed to others before", async () => {
  const verb = fc.constantFrom("get", "list");
  const namespace = fc.constantFrom("tea", "coffee");
  const author = fc.record({
    user: fc.constantFrom("ann", "bob"),
    groups: fc.subarray(["brewers", "system:masters"]),
  });
  const needed = fc.array(fc.tuple(verb, namespace), { minLength: 1, maxLength: 4 });
  const rule = fc.tuple(fc.constantFrom("ann", "bob", "brewers", "system:masters"), verb, namespace);
  await fc.assert(
    fc.asyncProperty(
      fc.array(rule),
      fc.array(fc.tuple(author, needed), { maxLength: 12 }),
      async (rules, questions) => {
        const held = new Set(rules.map((one) => one.join(" ")));
        const reviews = accessReviews(apiServer(held).client, { remembered: 60_000, now: () => 0 });
        for (const [{ user, groups }, all] of questions) {
          const lacks = all.find(
            ([of, where]) => ![user, ...groups].some((name) => held.has(`${name} ${of} ${where}`)),
          );
          const denied = await reviews.firstDenied(
            { user, groups },
            all.map(([of, where]) => access(of, where)),
            signal,
          );
          expect(denied).toEqual(lacks && access(...lacks));
        }
      },
    ),
  );
});

it("remembers that something is allowed for the given time, and never that it is denied", async () => {
  const rules = new Set(["ann get tea"]);
  const { client, asked } = apiServer(rules);
  let now = 0;
  const reviews = accessReviews(client, { remembered: 1_000, now: () => now });
  const denied = async () => reviews.firstDenied({ user: "ann", groups: [] }, [access("get")], signal);
  expect(await denied()).toBeUndefined();
  rules.clear();
  now = 999;
  expect(await denied()).toBeUndefined();
  expect(asked()).toBe(1);
  now = 1_000;
  expect(await denied()).toEqual(access("get"));
  rules.add("ann get tea");
  expect(await denied()).toBeUndefined();
  expect(asked()).toBe(3);
});

it("an allowed review is allowed, though another authorizer failed; a denied one with an error is no answer", async () => {
  const answering = (allowed: boolean) => {
    const review = () => Promise.resolve({ allowed, evaluationError: "webhook is away" });
    const client = { review } as unknown as KubeClient;
    return accessReviews(client, { remembered: 0, now: () => 0 });
  };
  const asked = [{ user: "ann", groups: [] }, [access("get")], signal] as const;
  expect(await answering(true).firstDenied(...asked)).toBeUndefined();
  await expect(answering(false).firstDenied(...asked)).rejects.toBeInstanceOf(UnansweredReviewError);
});
