import { expect, it } from "vitest";
import { scalingAnswer } from "./scaling-answer.ts";

const asked: string[] = [];
const { reads, answer } = scalingAnswer({
  figure: (key) => {
    asked.push(key);
    return Promise.resolve(undefined);
  },
});

it("whoever may get the scale subresource of the function reads its figure, and nobody else", async () => {
  expect(reads("tea/cups")).toEqual({
    resourceAttributes: {
      group: "drover.dev",
      resource: "reconcilefunctions",
      subresource: "scale",
      verb: "get",
      namespace: "tea",
      name: "cups",
    },
  });
  await answer("tea/cups");
  expect(asked).toEqual(["tea/cups"]);
});

it.each(["", "cups", "/cups", "tea/", "a/b/c", "tea/../cups"])("%j names no function", (rest) => {
  expect(reads(rest)).toBeUndefined();
});
