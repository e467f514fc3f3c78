import { expect, it } from "vitest";
import { cacheSecrets } from "./cached-secrets.ts";

const longest = 30_000;

/** Secrets that are read from a list of answers, one for each reading, on a clock that a test sets. */
function remembered(...answers: readonly (string | Error)[]) {
  let now = 0;
  let readings = 0;
  const secrets = cacheSecrets(
    () => {
      const answer = answers[readings++] ?? expect.fail("It was read too often.");
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve([answer]);
    },
    () => now,
    longest,
  );
  return {
    secrets,
    readings: () => readings,
    at: (time: number) => void (now = time),
  };
}

it("reads secrets again once they are old, and not before", async () => {
  const { secrets, at } = remembered("one", "two");
  expect(await secrets.current()).toEqual(["one"]);
  at(longest - 1);
  expect(await secrets.current()).toEqual(["one"]);
  at(longest);
  expect(await secrets.current()).toEqual(["two"]);
});

it("reads again a second after a reading that failed, and no sooner", async () => {
  const { secrets, at } = remembered(new Error("no such Secret"), "one");
  await expect(secrets.current()).rejects.toThrow("no such Secret");
  at(999);
  await expect(secrets.current()).rejects.toThrow("no such Secret");
  at(1_000);
  expect(await secrets.current()).toEqual(["one"]);
});

it("reads newer secrets once a second at most, also where that fails", async () => {
  const { secrets, at, readings } = remembered("one", new Error("refused"), "two");
  const used = await secrets.current();
  await expect(secrets.newerThan(used)).rejects.toThrow("refused");
  at(999);
  await expect(secrets.newerThan(used)).rejects.toThrow("refused");
  at(1_000);
  const newer = await secrets.newerThan(used);
  expect(newer).toEqual(["two"]);
  expect(await secrets.newerThan(newer ?? [])).toBeUndefined();
  expect(await secrets.current()).toBe(newer);
  expect(readings()).toBe(3);
});
