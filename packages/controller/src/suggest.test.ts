import { expect, it } from "vitest";
import { suggest } from "./suggest.ts";

it("suggests the most similar word, or lists all", () => {
  const known = ["concurrency", "timeout", "retry"];
  expect(suggest("timout", known)).toBe("Did you mean timeout?");
  expect(suggest("concurency", known)).toBe("Did you mean concurrency?");
  expect(suggest("retyr", known)).toBe("Did you mean retry?");
  expect(suggest("colour", known)).toBe("Known are: concurrency, timeout, retry.");
});
