import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { folderOfFile, folderOfTest } from "../../../testing/src/folder.fixture.ts";
import { functionSettings } from "./function-settings.ts";
import { InvalidSettingsError, nonSecret, readSettings, nonSecretProblem, wholeNumber } from "./settings.ts";

const redis = { DROVER_REDIS_URL: "redis://127.0.0.1:6379" };
const problems = (
  env: Record<string, string | undefined>,
  schema: z.ZodObject = functionSettings,
): readonly string[] => {
  try {
    readSettings(schema, env);
  } catch (error) {
    if (error instanceof InvalidSettingsError) return error.problems;
    throw error;
  }
  return [];
};

it("reads each field from its variable, ignores other variables, and fills in defaults", () => {
  const settings = readSettings(functionSettings, {
    ...redis,
    DROVER_LEASE: "9s",
    HOME: "/root",
    DROVER_HTTP_PORT: "",
  });
  expect(settings).toMatchObject({
    redisUrl: redis.DROVER_REDIS_URL,
    lease: 9_000,
    leaseRenewal: 400,
    rollout: 0,
    httpPort: 0,
  });
});

describe("a field that another one replaces", () => {
  const plan = { DROVER_PLAN_SECRETS: "/run/plan", DROVER_REDIS_URL: undefined };

  it("need not be set, and has a value that leads nowhere", () => {
    const { redisUrl } = readSettings(functionSettings, plan);
    expect(new URL(redisUrl).hostname).toMatch(/\.invalid$/);
  });

  it("must not be set beside it; the value is not shown", () => {
    const redisUrl = "redis://:hunter2@127.0.0.1";
    expect(problems({ ...plan, DROVER_REDIS_URL: redisUrl, DROVER_LEASE: "5" })).toEqual([
      "DROVER_REDIS_URL cannot be used with DROVER_PLAN_SECRETS. Leave one out.",
      expect.stringContaining("DROVER_LEASE") as unknown,
    ]);
  });
});

describe("refuses with advice", () => {
  it.each<[string, Record<string, string | undefined>, string | RegExp]>([
    ["nothing at all", { DROVER_REDIS_URL: undefined }, "DROVER_REDIS_URL is not set. Set it."],
    [
      "an unknown variable, with a suggestion",
      { DROVER_REDIS_URI: "x" },
      "DROVER_REDIS_URI is not a setting of this process. Did you mean DROVER_REDIS_URL?",
    ],
    ["an unknown variable like no other", { DROVER_XYZZY_ABC: "x" }, /setting.*Known are: DROVER_/],
    ["a number for a duration", { DROVER_LEASE: "5" }, /"5" has no unit\. Write "5s" if seconds/],
    ["a negative duration", { DROVER_LEASE: "-5s" }, /a duration\. Write a number and a unit/],
    ["NaN", { DROVER_STOP_GRACE: "NaN" }, /is not a duration/],
    ["1e308", { DROVER_STOP_GRACE: "1e308s" }, /is not a duration/],
    ["more than a timer supports", { DROVER_STOP_GRACE: "600h" }, /longer than 24 days/],
    ["concurrency 0", { DROVER_CONCURRENCY: "0" }, /give a whole number from 1 to 10000/],
    ["a fractional concurrency", { DROVER_CONCURRENCY: "1.5" }, /give a whole number from 1 to 10000/],
    ["an invalid port", { DROVER_HTTP_PORT: "70000" }, /from 0 to 65535/],
    ["an invalid URL", { DROVER_REDIS_URL: "localhost" }, /give a URL such as redis:\/\/127\.0\.0\.1:6379/],
  ])("%s", (_what, env, expected) => {
    const found = problems({ ...redis, ...env });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(expected);
  });
  it("all problems at once", () => {
    expect(problems({ DROVER_LEASE: "5", DROVER_REDDIS_URL: "x" })).toHaveLength(3);
  });
});

describe("invalid values", () => {
  const canary = "canary-Pw-9";
  const problemWith = (field: z.ZodType, value = canary): string =>
    problems({ ...redis, DROVER_IT: value }, functionSettings.extend({ it: field }))[0] ?? "none";

  it.each([
    ["redis:/admin:canary-Pw-9@host:6379", /give a URL such as/],
    [" redis://admin:canary-Pw-9@host", /give a URL such as/],
    ["'redis://admin:canary-Pw-9@host'", /give a URL such as/],
    ["http://admin:canary-Pw-9@host", /give a URL such as/],
  ])("of a URL of Redis are not shown: %s", (url, words) => {
    const [problem] = problems({ DROVER_REDIS_URL: url });
    expect(problem).toMatch(words);
    expect(problem).not.toMatch(/canary|admin/i);
  });
  it("are shown for a field that is marked as not secret", () => {
    expect(problemWith(nonSecret(wholeNumber({ least: 1, most: 2 })))).toBe(
      `DROVER_IT="${canary}" cannot be used: give a whole number from 1 to 2`,
    );
  });
  it("are not shown for other fields, but messages without them are", () => {
    expect(problemWith(wholeNumber({ least: 1, most: 2 }))).toBe(
      "DROVER_IT cannot be used: give a whole number from 1 to 2",
    );
    expect(problemWith(z.string().min(20))).toMatch(/cannot be used: Too small/);
    expect(problemWith(z.enum(["a", "b"]))).toMatch(/expected one of "a"\|"b"/);
  });
  it.each<[string, z.ZodType]>([
    ["repeats it", z.string().refine(() => false, { error: ({ input }) => `not ${String(input)}` })],
    ["repeats a part", z.string().refine(() => false, { error: ({ input }) => String(input).slice(3, 5) })],
    [
      "repeats it in capitals",
      z.string().refine(() => false, { error: (i) => String(i.input).toUpperCase() }),
    ],
    ["repeats it in a parse error", z.string().transform((text) => JSON.parse(text) as unknown)],
    [
      "repeats it as a field name",
      z
        .string()
        .transform((text) => ({ [text]: 1 }))
        .pipe(z.strictObject({})),
    ],
    [
      "throws for every other value",
      z.string().superRefine((text, context) => {
        if (text !== canary) throw new Error(canary);
        context.addIssue({ code: "custom", message: text });
      }),
    ],
    ["throws it", z.string().transform((text) => new URL(text))],
    [
      "is outside of the marked part",
      nonSecret(z.string()).refine(() => false, { error: (i) => String(i.input) }),
    ],
  ])("are not shown by a check that %s", (_, field) => {
    expect(problemWith(field)).toMatch(/^DROVER_IT cannot be used: /);
    expect(problemWith(field)).not.toMatch(/canary|na|pw-9/i);
  });
  it("may be shown by a check that marks its message", () => {
    const field = z
      .string()
      .superRefine((text, context) => context.addIssue(nonSecretProblem(`${text} is odd`)));
    expect(problemWith(field)).toBe(`DROVER_IT cannot be used: ${canary} is odd`);
  });
  it("are not shown by checks of several fields", () => {
    const schema = z
      .object({ it: z.string(), redisUrl: z.string() })
      .refine(() => false, { error: ({ input }) => JSON.stringify(input) });
    expect(problems({ ...redis, DROVER_IT: canary }, schema).join()).not.toContain("canary");
  });
  it("are not shown if a secret is given in place of a file's path", () => {
    const [problem] = problems({ ...redis, DROVER_REDIS_PASSWORD_FILE: canary });
    expect(problem).toMatch(/no file of that name\. Give the absolute path/);
    expect(problem).not.toContain(canary);
  });
});

describe("a secret file", () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = folderOfTest();
    path = join(folder, "password");
    writeFileSync(path, "hunter2\n", { mode: 0o600 });
  });

  it("is read without its line break", () => {
    const settings = readSettings(functionSettings, { ...redis, DROVER_REDIS_PASSWORD_FILE: path });
    expect(settings.redisPasswordFile).toBe("hunter2");
    writeFileSync(path, " hunter2 \r\n");
    const windows = readSettings(functionSettings, { ...redis, DROVER_REDIS_PASSWORD_FILE: path });
    expect(windows.redisPasswordFile).toBe(" hunter2 ");
  });
  it("that every user may read is refused, without its content", () => {
    chmodSync(path, 0o644);
    const [problem] = problems({ ...redis, DROVER_REDIS_PASSWORD_FILE: path });
    expect(problem).toContain(`chmod 600 ${path}`);
    expect(problem).not.toContain("hunter2");
  });
  it("that is missing, or a folder, is refused", () => {
    const problemOf = (file: string) => problems({ ...redis, DROVER_REDIS_PASSWORD_FILE: file })[0];
    expect(problemOf(`${path}x`)).toMatch(/does not exist\. Create it/);
    expect(problemOf(folder)).toMatch(/is not a file/);
  });
});

describe("a file of certificates", () => {
  const folder = folderOfFile();
  const path = join(folder, "ca.pem");
  const read = (text: string) => {
    writeFileSync(path, text);
    return problems({ ...redis, DROVER_REDIS_CA_FILE: path });
  };
  const [first = "", second = ""] = rootCertificates;
  it("is read with all its certificates", () => {
    expect(read(`a comment\n${first}\n${second}\n`)).toEqual([]);
    const settings = readSettings(functionSettings, { ...redis, DROVER_REDIS_CA_FILE: path });
    expect(settings.redisCaFile).toContain(second);
  });
  it.each([
    ["has no certificate", "password", /has no certificate in it/],
    ["has a broken certificate", first.replace("MII", "AAA"), /cannot be read/],
  ])("that %s is refused, without its content", (_, text, words) => {
    const [problem] = read(text);
    expect(problem).toMatch(words);
    expect(problem).not.toContain(text);
  });
  it("that is missing is refused", () => {
    expect(problems({ ...redis, DROVER_REDIS_CA_FILE: `${path}x` })[0]).toMatch(/is not a file/);
  });
});
