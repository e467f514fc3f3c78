import { describe, expect, it, vi } from "vitest";
import { durationSchema, InvalidDurationError, maxDuration, parseDuration, serverTime } from "./duration.ts";

describe("a duration", () => {
  it.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["1.5s", 1_500],
    ["1h30m", 5_400_000],
    ["24d", 2_073_600_000],
    ["2147483647ms", maxDuration],
    ["0s", 0],
  ])("of %s is %d ms", (text, expected) => {
    expect(parseDuration(text)).toBe(expected);
    expect(durationSchema.parse(text)).toBe(text);
  });

  it.each([
    ["5", 'has no unit. Write "5s"'],
    ["1.5", 'Write "1.5s"'],
    ["", "Write a number and a unit"],
    ["-5s", "Write a number and a unit"],
    ["+5s", "Write a number and a unit"],
    ["NaN", "Write a number and a unit"],
    ["Infinity", "Write a number and a unit"],
    ["1e308", "Write a number and a unit"],
    ["1e3s", "Write a number and a unit"],
    ["5 s", "Write a number and a unit"],
    ["5S", "Write a number and a unit"],
    ["5s\n", "Write a number and a unit"],
    ["５s", "Write a number and a unit"],
    ["2147483648ms", "longer than 24 days"],
    ["25d", "longer than 24 days"],
    [`${"9".repeat(60)}s`, "longer than 24 days"],
    [`${"9".repeat(400)}s`, "has 401 characters; a duration has at most 64"],
  ])("is not %j, and the message has advice", (text, advice) => {
    expect(() => parseDuration(text)).toThrow(InvalidDurationError);
    expect(() => parseDuration(text)).toThrow(advice);
    expect(
      durationSchema
        .safeParse(text)
        .error?.issues.map(({ message }) => message)
        .join(),
    ).toContain(advice);
  });

  it("of any length is refused with a short message", () => {
    const error = durationSchema.safeParse(`${"9".repeat(1_000_000)}s`).error;
    expect(error?.issues[0]?.message.length).toBeLessThan(200);
  });

  it.each([5, NaN, undefined, null, {}])("is refused if untyped code passes %s", (value) => {
    expect(() => parseDuration(value as string)).toThrow(InvalidDurationError);
  });
});

it("the time is that of the server if it is sent, and the local one otherwise", () => {
  expect(serverTime("Wed, 21 Oct 2015 07:28:00 GMT")).toBe(Date.parse("2015-10-21T07:28:00Z"));
  const localTime = vi.spyOn(Date, "now").mockReturnValue(77);
  expect([serverTime(undefined), serverTime("soon")]).toEqual([77, 77]);
  localTime.mockRestore();
});
