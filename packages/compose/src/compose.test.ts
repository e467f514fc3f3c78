import { describe } from "vitest";
import { composeContract } from "./compose.contract.ts";

describe("on the sandbox", () => composeContract(() => undefined));
