import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { headersOf, otherWhsec, signedHeaders, whsec } from "../hook.fixture.ts";
import { standardWebhooks } from "./standard-webhooks.ts";

// The example of the specification's own libraries.
const body = '{"test": 2432232314}';
const at = 1_614_265_330_000;
const sent = {
  "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
  "webhook-timestamp": "1614265330",
  "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const claimOf = (more: Record<string, string> = {}, now = at) =>
  standardWebhooks.claimOf(headersOf({ ...sent, ...more }), now);
const isGood = (more: Record<string, string> = {}, text = body, secret = whsec) =>
  claimOf(more).isMadeWith(secret, Buffer.from(text));

it("accepts the specification's example, and returns its id", () => {
  expect(isGood()).toBe(true);
  expect(claimOf().id).toBe(sent["webhook-id"]);
});

it("accepts one good signature among several, and skips unknown versions", () => {
  const bad = `v1,${"A".repeat(43)}=`;
  expect(isGood({ "webhook-signature": `${bad} v1a,xyz ${sent["webhook-signature"]}` })).toBe(true);
  expect(isGood({ "webhook-signature": `${bad} ${bad}` })).toBe(false);
});

describe("refuses", () => {
  it.each([
    ["another body", {}, `${body} `, whsec],
    ["another id", { "webhook-id": "msg_2" }, body, whsec],
    ["another time", { "webhook-timestamp": "1614265331" }, body, whsec],
    ["another secret", {}, body, otherWhsec],
  ])("a right signature on %s", (_what, more, text, secret) => {
    expect(isGood(more, text, secret)).toBe(false);
  });

  it("the signature of another algorithm, or a shorter one", () => {
    const key = Buffer.from(whsec.slice(6), "base64");
    const content = `${sent["webhook-id"]}.${sent["webhook-timestamp"]}.${body}`;
    const sha512 = createHmac("sha512", key).update(content).digest("base64");
    const half = sent["webhook-signature"].slice(0, 25);
    expect(isGood({ "webhook-signature": `v1,${sha512} ${sent["webhook-signature"]}` })).toBe(true);
    for (const signature of [`v1,${sha512}`, half, "v1,", "v1"]) {
      expect(() => isGood({ "webhook-signature": signature })).toThrow(/no such address/);
    }
  });

  it("a time that is more than five minutes off, either way", () => {
    for (const off of [-300, 300]) expect(claimOf({}, at + off * 1_000)).toBeDefined();
    for (const off of [-301, 301]) expect(() => claimOf({}, at + off * 1_000)).toThrow(/no such address/);
  });

  it.each([
    ["no id", { "webhook-id": "" }],
    ["an id with a dot, which could move between id, time and body", { "webhook-id": "a.1" }],
    ["a very long id", { "webhook-id": "a".repeat(257) }],
    ["a time that is not a number", { "webhook-timestamp": "1614265330.0" }],
    ["a time as a date", { "webhook-timestamp": "2021-02-25T15:02:10Z" }],
    ["an endless time", { "webhook-timestamp": "1".repeat(400) }],
    ["no signature", { "webhook-signature": "" }],
    ["two headers, the first of them good", { "webhook-signature": `${sent["webhook-signature"]}, v1,x` }],
    ["two headers, the last of them good", { "webhook-signature": `v1,x, ${sent["webhook-signature"]}` }],
  ])("%s", (_what, more) => {
    expect(() => claimOf(more)).toThrow(/no such address, or the message is not signed/);
  });
});

it("checks only the first fifty signatures", () => {
  const bad = `v1,${"A".repeat(43)}=`;
  const many = Array.from({ length: 10_000 }, () => bad);
  const good = sent["webhook-signature"];
  expect(isGood({ "webhook-signature": [...many.slice(0, 49), good, ...many].join(" ") })).toBe(true);
  expect(isGood({ "webhook-signature": [...many, good].join(" ") })).toBe(false);
});

it("reports the fault of a secret", () => {
  expect(standardWebhooks.secretProblem(whsec)).toBeUndefined();
  expect(standardWebhooks.secretProblem("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")).toMatch(/whsec_<base64>/);
  expect(standardWebhooks.secretProblem("whsec_not base64")).toMatch(/whsec_<base64>/);
  expect(standardWebhooks.secretProblem("whsec_c2hvcnQ=")).toMatch(/less than 24 bytes/);
  expect(standardWebhooks.secretProblem("whsec_")).toMatch(/whsec_<base64>/);
});

it("accepts the signatures of the fixture that other tests use", () => {
  const headers = headersOf(signedHeaders(body, { at }));
  expect(standardWebhooks.claimOf(headers, at).isMadeWith(whsec, Buffer.from(body))).toBe(true);
});
