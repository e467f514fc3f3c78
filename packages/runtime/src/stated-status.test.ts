import { expect, it } from "vitest";
import { statusToWrite } from "./stated-status.ts";

it.each([32_767, 32_768])(
  "a message that is cut within a character is text, and is not written anew by each run: %i letters",
  (letters) => {
    const metadata = { name: "a", uid: "u", resourceVersion: "1", generation: 1 };
    const raw = { apiVersion: "a/v1", kind: "A", metadata };
    const message = `${"x".repeat(letters - 1)}🏺🏺`;
    const statement = {
      ...{ fields: undefined, keepOthers: false },
      conditions: [{ type: "Ready", status: "True", reason: "Well", message } as const],
    };
    const status = statusToWrite(raw, statement, new Date(0)) as {
      conditions: readonly { message: string }[];
    };
    const written = status.conditions[0]?.message ?? "";
    expect(written).toHaveLength(32_768);
    expect(written.isWellFormed()).toBe(true);
    // As a server stores it.
    const stored = JSON.parse(
      new TextDecoder().decode(new TextEncoder().encode(JSON.stringify(status))),
    ) as object;
    expect(statusToWrite({ ...raw, status: stored }, statement, new Date(1))).toBeUndefined();
  },
);

it("a status with another integer is written, also where a double is the same; with the same one it is not", () => {
  const metadata = { name: "a", uid: "u", resourceVersion: "1", generation: 1 };
  const raw = { apiVersion: "a/v1", kind: "A", metadata };
  const stated = (n: number | bigint) =>
    ({
      ...{ fields: { n }, keepOthers: false },
      conditions: [{ type: "Ready", status: "True", reason: "Well", message: "" }],
    }) as const;
  const before = (n: number | bigint) => ({ ...raw, status: statusToWrite(raw, stated(n), new Date(0)) });
  const large = 2n ** 53n;
  expect(statusToWrite(before(large), stated(large + 1n), new Date(1))).toMatchObject({ n: large + 1n });
  expect(statusToWrite(before(large), stated(large), new Date(1))).toBeUndefined();
  // A small BigInt is read again as a number.
  expect(statusToWrite(before(5), stated(5n), new Date(1))).toBeUndefined();
});
