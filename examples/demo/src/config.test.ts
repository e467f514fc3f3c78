import { afterEach, describe, expect, it, vi } from "vitest";
import { awsEnvironment, demoConfig } from "./config.ts";

afterEach(() => vi.unstubAllEnvs());

describe("the environment", () => {
  it("of a process that is started has no setting of Drover's but those that are given", () => {
    vi.stubEnv("DROVER_LOG_LEVEL", "debug");
    vi.stubEnv("DROVER_REDIS_URL", "redis://a");
    const { logLevel, processEnvironment } = demoConfig();
    expect(logLevel).toBe("debug");
    expect(processEnvironment({ DROVER_LOG_LEVEL: "warn", OTHER: "x" })).toMatchObject({
      DROVER_LOG_LEVEL: "warn",
      DROVER_REDIS_URL: undefined,
      OTHER: "x",
    });
    expect(Object.keys(processEnvironment({}))).toContain("DROVER_REDIS_URL");
  });
  it("by which AWS tools find credentials is theirs and the home folder, and nothing else", () => {
    vi.stubEnv("AWS_PROFILE", "p");
    vi.stubEnv("HOME", "/home/a");
    vi.stubEnv("HOMEBREW", "x");
    vi.stubEnv("MY_AWS_KEY", "x");
    const names = Object.keys(awsEnvironment());
    expect(names).toEqual(expect.arrayContaining(["AWS_PROFILE", "HOME"]));
    expect(names).not.toEqual(expect.arrayContaining(["HOMEBREW"]));
    expect(names).not.toEqual(expect.arrayContaining(["MY_AWS_KEY"]));
  });
});
