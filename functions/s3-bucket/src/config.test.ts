import { afterEach, expect, test, vi } from "vitest";
import { functionConfig } from "./config.ts";

afterEach(() => vi.unstubAllEnvs());
const given = (value: string | undefined): boolean | undefined => {
  vi.stubEnv("DROVER_REDIS_URL", "redis://127.0.0.1");
  vi.stubEnv("DROVER_S3_FORCE_PATH_STYLE", value);
  return functionConfig().s3ForcePathStyle;
};

test.each([
  ["true", true],
  ["false", false],
  [undefined, undefined],
])("DROVER_S3_FORCE_PATH_STYLE=%s is %s", (text, meant) => expect(given(text)).toBe(meant));

test("no other word is taken for one of them", () => {
  expect(() => given("yes")).toThrow("give true or false");
});
