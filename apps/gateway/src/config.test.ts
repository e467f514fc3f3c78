import { afterEach, expect, it, vi } from "vitest";
import { gatewayConfig } from "./config.ts";

afterEach(() => vi.unstubAllEnvs());
const given = (env: Readonly<Record<string, string>>) => {
  for (const name of Object.keys(process.env)) if (name.startsWith("DROVER_")) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries({ DROVER_REDIS_URL: "redis://127.0.0.1", ...env }))
    vi.stubEnv(name, value);
  return gatewayConfig();
};

it.each(["ftp://gateway:1", "xhttp://gateway:1", "javascript:alert(1)", "file:///etc", "gateway"])(
  "functions do not get %s as the address for results",
  (url) => {
    expect(() => given({ DROVER_COMPLETIONS_URL: url })).toThrow("DROVER_COMPLETIONS_URL");
  },
);

it.each(["http://gateway:1", "https://gateway.example.com"])("functions may send results to %s", (url) => {
  expect(given({ DROVER_COMPLETIONS_URL: url }).completionsUrl).toBe(url);
});
