import { expect, it } from "vitest";
import { scalingEndpoint } from "./scaling-endpoint.ts";

const asked: string[] = [];
const { accessFor, respond } = scalingEndpoint({
  figures: (key) => {
    asked.push(key);
    return Promise.resolve(undefined);
  },
});

it("only a client that may get the scale subresource of the function reads its figure", async () => {
  expect(accessFor("tea/cups")).toEqual({
    resourceAttributes: {
      group: "drover.dev",
      resource: "reconcilefunctions",
      subresource: "scale",
      verb: "get",
      namespace: "tea",
      name: "cups",
    },
  });
  await respond("tea/cups");
  expect(asked).toEqual(["tea/cups"]);
});

it.each(["", "cups", "/cups", "tea/", "a/b/c", "tea/../cups"])("%j names no function", (rest) => {
  expect(accessFor(rest)).toBeUndefined();
});
