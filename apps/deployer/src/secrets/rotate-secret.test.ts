import { objectKey, RetryAfterError } from "@drover/controller";
import { builtin } from "@drover/kube";
import fc from "fast-check";
import { expect, it } from "vitest";
import { sandboxOfFile } from "../../../../packages/testing/src/sandbox.fixture.ts";
import { ownedMetadata } from "../function-ref.ts";
import { digest } from "../names.ts";
import { functionRef } from "../testing/cups.ts";
import { rotateSecret, type RotatingSecretOptions } from "./rotate-secret.ts";

const { client } = await sandboxOfFile({ namespaces: ["tea"] });

const rotateEvery = 60_000;

let names = 0;
/** A Secret of its own, on a clock that the test holds. */
function kept(more: Partial<RotatingSecretOptions> = {}) {
  let made = 0;
  const secret: RotatingSecretOptions = {
    name: `cups-${++names}`,
    key: "password",
    others: { username: "u" },
    rotateEvery,
    made: /^s\d+$/,
    make: () => `s${++made}`,
    isUsedByAll: () => true,
    forgets: true,
    ...more,
  };
  const key = objectKey({ namespace: functionRef.namespace, name: secret.name });
  const read = async (): Promise<Readonly<Record<string, string>>> => {
    const data = (await client.get(builtin.secret, key))?.["data"] ?? {};
    return Object.fromEntries(
      Object.entries(data).map(([name, text]) => [name, Buffer.from(String(text), "base64").toString()]),
    );
  };
  const keep = (at: number, changed: Partial<RotatingSecretOptions> = {}) =>
    rotateSecret({ client, signal: AbortSignal.timeout(30_000), now: new Date(at) }, functionRef, {
      ...secret,
      ...changed,
    });
  const create = (data: Readonly<Record<string, string>>, metadata: object = ownedMetadata(functionRef)) =>
    client.create(builtin.secret, {
      metadata: { namespace: functionRef.namespace, ...metadata, name: secret.name },
      data: Object.fromEntries(
        Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString("base64")]),
      ),
    });
  return {
    keep,
    read,
    create,
    version: async () => (await client.get(builtin.secret, key))?.metadata.resourceVersion,
  };
}

it.each([true, false])(
  "a secret in use stays valid, and it changes after rotateEvery, once all use it (forgets: %s)",
  async (forgets) => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ user: fc.nat(2) }),
        fc.record({ wait: fc.constantFrom(1, rotateEvery - 1, rotateEvery, rotateEvery / 2) }),
      ),
      { minLength: 4, maxLength: 16 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        let now = Date.UTC(2026, 0, 1);
        let changedAt = now;
        let accepted: readonly string[] = [];
        const announce = async (secrets: readonly string[]): Promise<void> =>
          void (accepted = await Promise.resolve(secrets));
        const { keep, read } = kept({ forgets });
        let fingerprint = await keep(now, { announce });
        let before = await read();
        const users = [0, 1, 2].map(() => before["password"]);
        for (const step of all) {
          if ("user" in step) users[step.user] = before["password"];
          else now += step.wait;
          const isUsedByAll = (asked: string): boolean => users.every((used) => digest(used) === asked);
          const mayChange = isUsedByAll(fingerprint);
          fingerprint = await keep(now, { announce, isUsedByAll });
          const after = await read();
          expect(fingerprint).toBe(digest(after["password"]));
          expect(accepted).toEqual([after["password"], after["previous"]].filter((one) => one !== undefined));
          for (const used of users) expect(accepted).toContain(used);
          const isForgotten = before["previous"] !== undefined && forgets;
          const isChanged = mayChange && !isForgotten && now - changedAt >= rotateEvery;
          if (isChanged) changedAt = now;
          expect(after).toEqual({
            username: "u",
            since: new Date(changedAt).toISOString(),
            password: isChanged ? `s${Number(before["password"]?.slice(1)) + 1}` : before["password"],
            ...(isChanged
              ? { previous: before["password"] }
              : before["previous"] !== undefined &&
                !(mayChange && isForgotten) && { previous: before["previous"] }),
          });
          before = after;
        }
      }),
      { numRuns: 25 },
    );
  },
);

it("is not written while nothing changes", async () => {
  const { keep, version } = kept();
  await keep(0);
  const first = await version();
  await keep(rotateEvery - 1);
  expect(await version()).toBe(first);
});

it("is announced before it is readable, and not written when that fails", async () => {
  const { keep, read } = kept();
  const refused = new Error("Redis is away.");
  const announced: unknown[] = [];
  const announce = async (secrets: readonly string[]): Promise<void> => {
    announced.push([secrets, await read()]);
    if (announced.length % 2 === 1) throw refused;
  };
  await expect(keep(0, { announce })).rejects.toBe(refused);
  expect(await read()).toEqual({});
  await keep(0, { announce });
  const first = await read();
  await expect(keep(rotateEvery, { announce })).rejects.toBe(refused);
  expect(await read()).toEqual(first);
  expect(announced).toEqual([
    [["s1"], {}],
    [["s2"], {}],
    [["s3", "s2"], first],
  ]);
});

it.each([
  ["does not look as one that was made", { password: "short", since: "2026-01-01T00:00:00Z" }],
  ["is not there", { since: "2026-01-01T00:00:00Z", previous: "s8" }],
])("is made anew where it %s", async (_, data) => {
  const { keep, read, create } = kept();
  await create(data);
  await keep(Date.UTC(2026, 0, 1));
  expect(await read()).toEqual({ username: "u", password: "s1", since: "2026-01-01T00:00:00.000Z" });
});

it("is changed where its age is unknown, and a previous one that was not made here is removed", async () => {
  const { keep, read, create } = kept();
  await create({ password: "s7", previous: "chosen", since: "a while ago" });
  await keep(Date.UTC(2026, 0, 1), { isUsedByAll: () => false });
  expect(await read()).toEqual({ username: "u", password: "s7", since: "1970-01-01T00:00:00.000Z" });
  await keep(Date.UTC(2026, 0, 1));
  expect(await read()).toMatchObject({ password: "s1", previous: "s7" });
});

it("of another owner is neither announced nor used", async () => {
  const { keep, read, create } = kept();
  await create({ password: "s7" }, {});
  const announced: unknown[] = [];
  const announce = (secrets: readonly string[]) => Promise.resolve(void announced.push(secrets));
  await expect(keep(0, { announce })).rejects.toBeInstanceOf(RetryAfterError);
  expect([announced, await read()]).toEqual([[], { password: "s7" }]);
});
