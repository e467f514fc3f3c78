import { expect, it } from "vitest";
import type { Action } from "./actions.ts";
import { shrunk } from "./shrink.ts";

const action = (name: string): Action => ({ do: "kubectl", args: [name] });
const names = (actions: readonly Action[]): string =>
  actions.map((one) => (one.do === "kubectl" ? one.args[0] : "?")).join("");
const sequence = (text: string) => ({ seed: 1, actions: Array.from(text, action) });

it("leaves what it takes to differ, and asks a few times only", async () => {
  let asked = 0;
  const least = await shrunk(sequence("abcdefgh"), (tries) => {
    asked += 1;
    return Promise.resolve(tries.map(({ actions }) => /b.*g/.test(names(actions))));
  });
  expect(names(least.actions)).toBe("bg");
  expect(asked).toBeLessThan(6);
});

it("leaves it whole where everything counts", async () => {
  const least = await shrunk(sequence("abc"), (tries) => Promise.resolve(tries.map(() => false)));
  expect(names(least.actions)).toBe("abc");
});

it("leaves out one where two stand for one another", async () => {
  const least = await shrunk(sequence("aabc"), (tries) =>
    Promise.resolve(tries.map(({ actions }) => /a.*c/.test(names(actions)))),
  );
  expect(names(least.actions)).toBe("ac");
});
