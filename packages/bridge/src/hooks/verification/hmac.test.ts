import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { headersOf } from "../hook.fixture.ts";
import type { HmacFormat } from "../hook.ts";
import { hmac } from "./hmac.ts";

const github: HmacFormat = {
  header: "X-Hub-Signature-256",
  algorithm: "sha256",
  prefix: "sha256=",
  encoding: "hex",
};
// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
const secret = "It's a Secret to Everybody";
const body = "Hello, World!";
const signature = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
const isGood = (value: string, form = github, text = body) =>
  hmac(form)
    .claimOf(headersOf({ [form.header]: value }), 0)
    .isMadeWith(secret, Buffer.from(text));

it("accepts GitHub's example, in any letter case of the header", () => {
  expect(isGood(`sha256=${signature}`)).toBe(true);
  const claim = hmac(github).claimOf(
    headersOf({ "x-hub-signature-256": `sha256=${signature.toUpperCase()}` }),
    0,
  );
  expect(claim.isMadeWith(secret, Buffer.from(body))).toBe(true);
});

it("accepts only the declared algorithm and encoding", () => {
  const sha512 = createHmac("sha512", secret).update(body).digest("base64");
  const form: HmacFormat = { ...github, algorithm: "sha512", prefix: "", encoding: "base64" };
  expect(isGood(sha512, form)).toBe(true);
  expect(isGood(createHmac("sha256", secret).update(body).digest("base64"), form)).toBe(false);
});

it("refuses a right signature on another body, and a part of a signature", () => {
  expect(isGood(`sha256=${signature}`, github, `${body} `)).toBe(false);
  expect(isGood(`sha256=${signature.slice(0, 62)}`)).toBe(false);
  expect(isGood(`sha256=${signature}00`)).toBe(false);
});

it.each([
  "",
  signature,
  `sha1=${signature}`,
  "sha256=",
  "sha256=xyz",
  `sha256=${"0".repeat(201)}`,
  `sha256=${signature} `,
])("refuses the header %j without reading the body", (value) => {
  expect(() => isGood(value)).toThrow(/no such address, or the message is not signed/);
});

it("refuses a secret that is too short", () => {
  expect(hmac(github).secretProblem("fifteen letters")).toMatch(/less than 16 bytes/);
  expect(hmac(github).secretProblem("sixteen letters!")).toBeUndefined();
});
