import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { errorFields, errorText, messageOf } from "./error-fields.ts";
import { RetryError } from "./errors.ts";

/** Errors with a canary in every field that is not allowed. */
const carriers: Readonly<Record<string, () => unknown>> = {
  "an HTTP client's": () =>
    Object.assign(new Error("Request failed with status code 401"), {
      name: "AxiosError",
      code: "ERR_BAD_REQUEST",
      status: 401,
      config: { headers: { Authorization: "Bearer canary" }, auth: { password: "canary" }, data: "canary" },
      request: { _header: "canary" },
      response: { data: "canary", headers: { "set-cookie": ["canary"] } },
      toJSON: () => ({ canary: true }),
    }),
  "one of Redis, with the arguments": () =>
    Object.assign(new Error("OOM command not allowed"), {
      name: "ReplyError",
      command: { name: "evalsha", args: ["canary"] },
    }),
  "one with it in the cause of its cause": () =>
    new Error("a", { cause: new Error("b", { cause: Object.assign(new Error("c"), { body: "canary" }) }) }),
  several: () => new AggregateError([Object.assign(new Error("a"), { token: "canary" })], "all failed"),
  "an object that is not an Error": () => ({ message: "no", body: "canary" }),
  "a string": () => "https://me:canary@host/",
  "an invalid code": () => Object.assign(new Error("a"), { code: "canary canary", status: "canary" }),
  "fields with similar names": () => Object.assign(new Error("a"), { reason: "canary", errors: "canary" }),
  "a message with it, and a stack": () => new Error("GET https://me:canary@host/ failed"),
  "another realm's": (): unknown => runInNewContext('Object.assign(new Error("a"), { body: "canary" })'),
};

it.each(Object.entries(carriers))("shows the allowed fields of %s, and no other", (_, made) => {
  const error = made();
  for (const shown of [JSON.stringify(errorFields(error)), errorText(error), messageOf(error)])
    expect(shown).not.toContain("canary");
});

it("keeps name, message, stack, code, status, reason and causes", () => {
  const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const shown = errorFields(new RetryError("no", { reason: "Away", cause }));
  expect(shown).toMatchObject({
    name: "RetryError",
    message: "no",
    reason: "Away",
    cause: { code: "ECONNREFUSED" },
  });
  expect(shown.stack).toContain("error-fields.test.ts");
  expect(errorFields(Object.assign(new Error("x"), { status: 404 })).status).toBe(404);
  expect(errorText(new Error("a", { cause }))).toMatch(
    /^Error: a\n[^]*caused by:\nError: connect ECONNREFUSED/,
  );
});

const fail = () => {
  throw new Error("canary");
};
const thrower = new Proxy(new Error("a"), { get: fail, getPrototypeOf: fail });
const getters = Object.defineProperty(new Error("a"), "message", { get: fail });
const cyclic = new Error("a");
cyclic.cause = new AggregateError([cyclic, new Error("b", { cause: cyclic })], "both");

it.each([
  ["a proxy that throws", thrower],
  ["a getter that throws", getters],
  ["an object without a prototype", Object.create(null) as unknown],
  ["a symbol", Symbol("a")],
  ["undefined", undefined],
  ["null", null],
  ["a cyclic one", cyclic],
])("never throws, and has a message: %s", (_, error: unknown) => {
  expect(messageOf(error)).not.toBe("");
  expect(JSON.stringify(errorFields(error))).not.toContain("canary");
});

it("is bounded for any error", () => {
  const wide = (depth: number): Error =>
    depth === 0
      ? new Error("leaf")
      : new AggregateError(
          Array.from({ length: 8 }, () => wide(depth - 1)),
          "x".repeat(1e5),
        );
  expect(JSON.stringify(errorFields(wide(5))).length).toBeLessThan(300_000);
  expect(errorFields(new Error("x".repeat(1e6))).message.length).toBeLessThan(10_000);
});

it("redacts before it truncates", () => {
  const text = `${"x ".repeat(4_090)}http://me:canary${"y".repeat(100)}@host`;
  expect(errorFields(new Error(text)).message).not.toContain("canary");
  const error = Object.assign(new RetryError("no", { reason: text }), { stack: text, name: text });
  expect(JSON.stringify(errorFields(error))).not.toContain("canary");
});
