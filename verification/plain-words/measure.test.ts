import { expect, it } from "vitest";
import { commentsOf, countIn, type Measure, proseOf } from "./measure.ts";

const WHO: Measure = { name: "who", pattern: /\bwho\b/gi, per: "1,000 words" };
const OPENING: Measure = { name: "openings", pattern: /^What\b/g, per: "100 parts" };

it("takes block comments, and lines that follow each other as one", () => {
  const text =
    "/**\n * One\n * comment.\n */\nconst a = 1; // not alone on its line\n// Two\n// lines.\n\n-- Lua.\n// eslint-disable-line\n";
  expect(commentsOf(text).map((comment) => comment.replace(/\s+/g, " "))).toEqual([
    "One comment.",
    "Two lines.",
    "Lua. eslint-disable-line",
  ]);
});

it("counts words for each 1,000, and names the files that have the most", () => {
  const files = [
    { path: "a", parts: ["the one who asks"] },
    { path: "b", parts: ["Who, and who else", "no one"] },
  ];
  expect(countIn(files, WHO)).toEqual({
    share: (3 / 10) * 1_000,
    most: [
      { path: "b", count: 2 },
      { path: "a", count: 1 },
    ],
  });
});

it("counts openings for each 100 parts", () => {
  expect(countIn([{ path: "a", parts: ["What it is.", "It is what it is."] }], OPENING).share).toBe(50);
});

it("leaves blocks of code in Markdown out", () => {
  expect(proseOf("who\n```sh\nwho\n```\nwho")).toBe("who\n\nwho");
});
