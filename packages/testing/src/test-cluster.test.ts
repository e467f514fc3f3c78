import { describe } from "vitest";
import { testClusterContract } from "./test-cluster.contract.ts";

describe("a test cluster, on a sandbox", () => testClusterContract(() => undefined));
