import { expect, it, vi } from "vitest";
import { serverTime } from "./duration.ts";

it("the time is the server's where it says it, and ours where it does not", () => {
  expect(serverTime("Wed, 21 Oct 2015 07:28:00 GMT")).toBe(Date.parse("2015-10-21T07:28:00Z"));
  const ours = vi.spyOn(Date, "now").mockReturnValue(77);
  expect([serverTime(undefined), serverTime("soon")]).toEqual([77, 77]);
  ours.mockRestore();
});
