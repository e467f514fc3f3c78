import { testContext } from "drover";
import { expect, it } from "vitest";
import { controller } from "./controller.ts";
import { Greeting } from "./greeting.ts";

const textFor = async (spec: { name: string; loudly?: boolean }) =>
  (await controller.reconcile(testContext(Greeting, { spec })))?.status?.text;

it("greets by name", async () => {
  expect(await textFor({ name: "Ada" })).toBe("Hello, Ada!");
});

it("greets loudly where that is asked for", async () => {
  expect(await textFor({ name: "Ada", loudly: true })).toBe("HELLO, ADA!");
});

it("refuses an empty name", async () => {
  await expect(textFor({ name: "" })).rejects.toThrow("Too small");
});
