import { expect, it } from "vitest";
import { meant } from "./meant.ts";

it("names the word that was probably meant, or all that there are", () => {
  const known = ["concurrency", "timeout", "retry"];
  expect(meant("timout", known)).toBe("Did you mean timeout?");
  expect(meant("concurency", known)).toBe("Did you mean concurrency?");
  expect(meant("retyr", known)).toBe("Did you mean retry?");
  expect(meant("colour", known)).toBe("Known are: concurrency, timeout, retry.");
});
