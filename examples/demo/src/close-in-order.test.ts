import { expect, it } from "vitest";
import { closeInOrder } from "./close-in-order.ts";
import { narrator } from "./story/narrator.ts";

it("stops all parts in reverse order, and reports one that does not stop", async () => {
  let printed = "";
  const order: string[] = [];
  const one = (name: string, stop: () => Promise<void> = () => Promise.resolve()) => ({
    name,
    stop() {
      order.push(name);
      return stop();
    },
  });
  const broken = one("the bridge", () => Promise.reject(new Error("no answer")));
  const to = narrator({ write: (text: string) => ((printed += text), true) }, false, () => 0);
  expect(await closeInOrder([one("Redis"), broken, one("the node")], to)).toBe(false);
  expect(order).toEqual(["the node", "the bridge", "Redis"]);
  expect(printed).toMatch(/Stopped: the node .*\n.*Could not stop the bridge: no answer\n.*Stopped: Redis /);
  expect(await closeInOrder([one("Redis")], to)).toBe(true);
});
