import { expect, it } from "vitest";
import { patchAdvice } from "./patch-levels.ts";

/** As `INFO server` has it: Valkey says of itself which Redis it is like. */
const advice = (info: Readonly<Record<string, string>>) => patchAdvice((name) => info[name] ?? "");
const redis = (version: string) => advice({ redis_version: version });
const valkey = (version: string) => advice({ redis_version: "7.2.4", valkey_version: version });

it.each(["7.2.11", "7.2.12", "7.4.6", "8.0.4", "8.2.2", "8.4.0", "8.6.3", "9.0.0"])(
  "nothing is said against Redis %s",
  (version) => expect(redis(version)).toBeUndefined(),
);
it.each(["7.2.10", "7.4.5", "8.0.3", "8.2.1", "8.6.2"])("Redis %s is to be patched", (version) => {
  expect(redis(version)).toMatch(
    new RegExp(`^Redis ${version} has known faults.*Use \\d+\\.\\d+\\.\\d+ or later`),
  );
});
it("Redis 7.0 is to be left", () => {
  expect(redis("7.0.15")).toMatch(/Use a later release line/);
});
it.each(["7.2.13", "8.0.9", "8.1.7", "9.0.4", "9.1.0", "10.0.0"])(
  "nothing is said against Valkey %s",
  (version) => expect(valkey(version)).toBeUndefined(),
);
it.each(["7.2.12", "8.0.7", "8.1.6", "9.0.3"])("Valkey %s is to be patched", (version) => {
  expect(valkey(version)).toMatch(new RegExp(`^Valkey ${version} has known faults`));
});
it("nothing is said of what cannot be read", () => {
  expect(advice({})).toBeUndefined();
  expect(redis("unstable")).toBeUndefined();
});
