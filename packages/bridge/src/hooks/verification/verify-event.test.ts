import { expect, it } from "vitest";
import { SecretError } from "@drover/kube";
import { headersOf, otherWhsec, signedHeaders, whsec } from "../hook.fixture.ts";
import type { Verification } from "../hook.ts";
import { cacheSecrets } from "@drover/webhook";
import { type SentHeaders, sentHeaders } from "./sent-headers.ts";
import { verifyEvent } from "./verify-event.ts";

const body = '{"a":1}';
/** A sender and a hook; `secrets` is the content of the Secret, `clock` the time, ms. */
const stage = (verify: Verification, initial: readonly string[]) => {
  const world = { secrets: initial, clock: 0, reads: 0, bodies: 0, broken: false, verified: false };
  const secrets = cacheSecrets(
    () => {
      world.reads++;
      return world.broken ? Promise.reject(new SecretError("gone")) : Promise.resolve([...world.secrets]);
    },
    () => world.clock,
    30_000,
  );
  const incoming = {
    read: () => {
      world.bodies++;
      return Promise.resolve(Buffer.from(body));
    },
    signal: new AbortController().signal,
    verified: () => (world.verified = true),
  };
  const send = async (headers: SentHeaders): Promise<string> =>
    verifyEvent({ verify, secrets, headers, body: incoming, now: Date.now() }).then(
      ({ signedId }) => signedId ?? "good",
      (error: unknown) =>
        error instanceof Error && "refusal" in error ? String(error.refusal) : String(error),
    );
  return { world, send };
};
const standard = { by: "standardWebhooks" } as const;
const by = (secret: string) => headersOf(signedHeaders(body, { secret }));
const bearing = (token: string) => headersOf({ authorization: `Bearer ${token}` });

it("any of several secrets is accepted", async () => {
  const { world, send } = stage(standard, [otherWhsec, whsec]);
  expect(await send(by(whsec))).toBe("msg_1");
  expect(await send(by(otherWhsec))).toBe("msg_1");
  world.clock = 29_000;
  await send(by(whsec));
  expect(world.reads).toBe(1);
});

it("a new secret is accepted at once, and the old one no longer", async () => {
  const { world, send } = stage(standard, [whsec]);
  expect(await send(by(whsec))).toBe("msg_1");
  world.secrets = [otherWhsec];
  expect(await Promise.all([send(by(otherWhsec)), send(by(otherWhsec))])).toEqual(["msg_1", "msg_1"]);
  expect(await send(by(whsec))).toBe("unverified");
  expect(world.reads).toBe(2);
});

it("a removed secret is accepted for at most 30 s, even if no other is used", async () => {
  const { world, send } = stage(standard, [whsec]);
  expect(await send(by(whsec))).toBe("msg_1");
  world.secrets = [otherWhsec];
  world.clock = 30_000;
  expect(await send(by(whsec))).toBe("unverified");
});

it("forgeries do not cause a read of the secret each", async () => {
  const { world, send } = stage(standard, [whsec]);
  for (let i = 0; i < 100; i++) {
    world.clock += 50;
    expect(await send(by(otherWhsec))).toBe("unverified");
  }
  expect(world.reads).toBeLessThanOrEqual(6);
});

it("an event is unavailable while the secret cannot be read, and the read is not repeated at once", async () => {
  const { world, send } = stage(standard, [whsec]);
  world.broken = true;
  expect(await send(by(whsec))).toBe("unavailable");
  expect(await send(by(whsec))).toBe("unavailable");
  expect(world.reads).toBe(1);
  world.broken = false;
  world.clock = 1_000;
  expect(await send(by(whsec))).toBe("msg_1");
});

it("a bearer token is checked before the body is read", async () => {
  const { world, send } = stage({ by: "bearer" }, ["sixteen letters!"]);
  expect(await send(bearing("sixteen-letters-"))).toBe("unverified");
  expect(await send(headersOf({}))).toBe("unverified");
  expect(await send(headersOf({ authorization: "Basic c2l4dGVlbiBsZXR0ZXJzIQ==" }))).toBe("unverified");
  expect(world.bodies).toBe(0);
});

it("a bearer token is enough", async () => {
  const { world, send } = stage({ by: "bearer" }, ["sixteen-letters!"]);
  expect(await send(bearing("sixteen-letters!"))).toBe("good");
  expect(world.bodies).toBe(1);
});

it("a body is not read for an expired signature", async () => {
  const { world, send } = stage(standard, [whsec]);
  const old = signedHeaders(body, { at: Date.now() - 10 * 60_000 });
  expect(await send(headersOf(old))).toBe("unverified");
  expect(world).toMatchObject({ bodies: 0, reads: 0 });
});

it("a doubled header is refused like a wrong signature", async () => {
  const { send } = stage(standard, [whsec]);
  const good = Object.entries(signedHeaders(body)).flat();
  expect(await send(sentHeaders([...good, "Webhook-Id", "msg_2"]))).toBe("unverified");
  expect(await send(sentHeaders([...good, "webhook-signature", "v1,x"]))).toBe("unverified");
  expect(await send(sentHeaders(good))).toBe("msg_1");
});
