import { expect, it } from "vitest";
import { hookOf, whsec } from "./hook.fixture.ts";
import { openHooksInUse, usualLimits } from "./hooks-in-use.ts";

const open = () =>
  openHooksInUse(
    () => Promise.resolve([whsec]),
    { ...usualLimits, rate: { perSecond: 1, burst: 1 } },
    () => 0,
  );

it("keeps the state of a hook that is declared again unchanged, and resets that of a changed one", () => {
  const hooks = open();
  expect(hooks.areKnown()).toBe(false);
  hooks.want([hookOf()]);
  expect(hooks.areKnown()).toBe(true);
  expect(hooks.of("web/sites/s3")?.rate.take()).toBe(true);
  hooks.want([hookOf()]);
  expect(hooks.of("web/sites/s3")?.rate.take()).toBe(false);
  const otherSecret = { verify: { standardWebhooks: { secretRef: { name: "hooks", key: "other" } } } };
  hooks.want([hookOf(otherSecret)]);
  expect(hooks.of("web/sites/s3")?.rate.take()).toBe(true);
  hooks.want([hookOf({ names: { field: "a" } })]);
  expect(hooks.of("web/sites/s3")?.hook.names).toMatchObject({ field: { text: "a" } });
});

it("forgets a removed hook", () => {
  const hooks = open();
  hooks.want([hookOf()]);
  hooks.want([]);
  expect(hooks.of("web/sites/s3")).toBeUndefined();
});
