import { describe, expect, it } from "vitest";
import type { Fact, Verb } from "./facts.ts";
import { earlyRequests } from "./early-requests.ts";

/** A request and its answer, a moment later. */
const request = (
  at: number,
  verb: Verb,
  said: { status?: number; closedUntil?: number; life?: number; path?: string } = {},
): Fact[] => {
  const { status = 200, closedUntil, life = 1, path = "/widgets" } = said;
  return [
    { at, fact: "asked", id: at, life, verb, path, query: "" },
    { at: at + 5, fact: "answered", id: at, status, closedUntil },
  ];
};
const rules = (...requests: readonly Fact[][]): readonly string[] =>
  earlyRequests(requests.flat()).map(({ rule }) => rule);

describe("a Retry-After (I18)", () => {
  const asked = request(0, "watch", { status: 429, closedUntil: 3_000 });
  it("is kept by a request after it", () => {
    expect(rules(asked, request(3_001, "watch"))).toEqual([]);
  });
  it.each<Verb>(["watch", "list", "page", "stream"])("is not kept by a %s inside it", (verb) => {
    expect(rules(asked, request(1_500, verb))).toEqual(["I18"]);
  });
  it("does not bind what was under way", () => {
    expect(rules(asked, request(50, "list"))).toEqual([]);
  });
  it("binds neither another kind nor a bridge that was started since", () => {
    expect(rules(asked, request(1_500, "list", { path: "/others" }))).toEqual([]);
    expect(rules(asked, request(1_500, "list", { life: 2 }))).toEqual([]);
  });
});

describe("watches (I18)", () => {
  it("may follow each other a second apart", () => {
    expect(rules(request(0, "watch"), request(1_000, "watch"), request(2_000, "watch"))).toEqual([]);
  });
  it("may not follow each other at once", () => {
    expect(rules(request(0, "watch"), request(30, "watch"))).toEqual(["I18"]);
  });
  it("are lists, too, that come as a stream", () => {
    expect(rules(request(0, "stream"), request(1_000, "watch"), request(2_000, "stream"))).toEqual([]);
    expect(rules(request(0, "stream"), request(30, "watch"))).toEqual(["I18"]);
    expect(rules(request(0, "watch"), request(30, "stream"))).toEqual(["I18"]);
  });
  it("may not come a little too often, either", () => {
    expect(rules(...[0, 700, 1_400, 2_100].map((at) => request(at, "watch")))).toEqual(["I18"]);
  });
  it("may be repeated with new credentials, and after a list that is not streamed", () => {
    expect(rules(request(0, "watch", { status: 401 }), request(30, "watch"))).toEqual([]);
    expect(rules(request(0, "stream", { status: 422 }), request(10, "list"), request(30, "watch"))).toEqual(
      [],
    );
  });
});
