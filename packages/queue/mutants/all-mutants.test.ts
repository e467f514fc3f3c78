import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { allMutants } from "./all-mutants.ts";

it.each(allMutants)(
  "$promise, broken so that $wrong: its place is in the code once",
  async ({ file, from }) => {
    const source = await readFile(new URL(`../src/${file}`, import.meta.url), "utf8");
    expect(source.split(from)).toHaveLength(2);
  },
);
