import { afterEach, expect, it, vi } from "vitest";
import { buildRealCluster } from "./build.ts";

afterEach(() => vi.unstubAllEnvs());

it("without Go, the error names what to install", async () => {
  vi.stubEnv("PATH", "");
  await expect(buildRealCluster()).rejects.toThrow(/^Go is missing.*https:\/\/go\.dev/);
});
