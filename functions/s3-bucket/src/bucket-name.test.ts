import { expect, test } from "vitest";
import { bucketNameOf, bucketNameProblem } from "./bucket-name.ts";

test.each(["abc", "a-b.c-1", "1ab", "a".repeat(63)])("%s is a bucket name", (name) => {
  expect(bucketNameProblem(name)).toBeUndefined();
});

test.each([
  ["ab", "3 to 63"],
  ["a".repeat(64), "has 64"],
  ["Abc", "lower-case"],
  ["a_b", "lower-case"],
  ["-ab", "begins and ends"],
  ["ab.", "begins and ends"],
  ["a..b", "two dots"],
  ["192.168.5.4", "IP address"],
  ["xn--abc", '"xn--"'],
  ["sthree-abc", '"sthree-"'],
  ["amzn-s3-demo-abc", '"amzn-s3-demo-"'],
  ["abc-s3alias", '"-s3alias"'],
  ["abc--ol-s3", '"--ol-s3"'],
  ["abc.mrap", '".mrap"'],
  ["abc--x-s3", '"--x-s3"'],
  ["abc--table-s3", '"--table-s3"'],
])("%s is invalid, with the reason", (name, why) => {
  expect(bucketNameProblem(name)).toContain(why);
});

test("a bucket has the name in the spec, else one made of its object's", () => {
  const metadata = { namespace: "shop", name: "images" };
  expect(bucketNameOf({}, metadata)).toBe("shop-images");
  expect(bucketNameOf({ bucketName: "mine" }, metadata)).toBe("mine");
});
