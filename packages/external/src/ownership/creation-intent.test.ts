import { expect, test } from "vitest";
import { intentToCreate, mayAppearFor, mayCreate, wasIntended } from "./creation-intent.ts";

const start = Date.parse("2026-01-01T00:00:00Z");
const at = (seconds: number) => new Date(start + seconds * 1_000);

test("an intent is for one name, and for now: its request is over when it is", () => {
  const intent = intentToCreate("b", at(0));
  expect(mayCreate(intent, "b", at(0))).toBe(true);
  expect(mayCreate(intent, "b", at(15))).toBe(true);
  expect(mayCreate(intent, "b", at(16))).toBe(false);
  expect(mayCreate(intent, "other", at(0))).toBe(false);
  expect(mayCreate(undefined, "b", at(0))).toBe(false);
});

test("only a resource made while it was open was intended", () => {
  const intent = intentToCreate("b", at(100));
  expect(wasIntended(intent, "b", at(90))).toBe(false);
  expect(wasIntended(intent, "b", at(99))).toBe(true);
  expect(wasIntended(intent, "b", at(130))).toBe(true);
  expect(wasIntended(intent, "b", at(140))).toBe(false);
  expect(wasIntended(intent, "other", at(100))).toBe(false);
});

test("where runs come late, the next intent is open for longer, an hour at most", () => {
  const late = intentToCreate("b", at(600), intentToCreate("b", at(0)));
  expect(mayCreate(late, "b", at(600 + 600))).toBe(true);
  const never = intentToCreate("b", at(10_000_000), intentToCreate("b", at(0)));
  expect(mayCreate(never, "b", at(10_000_000 + 3_601))).toBe(false);
  expect(intentToCreate("c", at(600), intentToCreate("b", at(0)))).toEqual(intentToCreate("c", at(600)));
});

test("an intent of the future, or one that is no time, allows nothing and does not stay", () => {
  expect(mayCreate(intentToCreate("b", at(1_000)), "b", at(0))).toBe(false);
  const broken = { name: "b", since: "never", until: "never" };
  expect(mayCreate(broken, "b", at(0))).toBe(false);
  expect(wasIntended(broken, "b", at(0))).toBe(false);
  expect(intentToCreate("b", at(0), broken)).toEqual(intentToCreate("b", at(0)));
});

test("a resource may appear until the intent is over, however the clock was set", () => {
  const intent = intentToCreate("b", at(0));
  expect(mayAppearFor(intent, "b", at(10))).toBe(20_000);
  expect(mayAppearFor(intent, "b", at(40))).toBe(0);
  expect(mayAppearFor(intent, "b", at(-10_000))).toBe(30_000);
  expect(mayAppearFor({ ...intent, until: "never" }, "b", at(0))).toBe(0);
});
