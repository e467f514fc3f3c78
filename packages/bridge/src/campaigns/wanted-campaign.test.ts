import { ReconcileFunction } from "@drover/controller";
import { expect, it } from "vitest";
import { wantedCampaign, wantedRetries } from "./wanted-campaign.ts";

const kind = { group: "example.com", version: "v1", kind: "Gadget", plural: "gadgets", scope: "Namespaced" };
const spec = (fields: object) => ReconcileFunction.spec.parse({ for: kind, ...fields });
const status = (complete: number) => ({ rollout: { revision: complete + 1, template: "t", complete } });

it("is that of the spec, unless `onRollout` is set", () => {
  expect(wantedCampaign(spec({ campaign: { name: "a", perSecond: 3 } }), status(4))).toEqual({
    name: "a",
    perSecond: 3,
  });
  expect(wantedCampaign(spec({}), status(4))).toBeUndefined();
});

it("begins again with every version that has taken over, except the first", () => {
  const asked = spec({ onRollout: "campaign" });
  expect(wantedCampaign(asked, {})).toBeUndefined();
  expect(wantedCampaign(asked, status(1))).toBeUndefined();
  expect(wantedCampaign(asked, status(2))).toEqual({ name: "rollout-2" });
  expect(wantedCampaign(spec({ onRollout: "campaign", campaign: { name: "a" } }), status(3))).toEqual({
    name: "a.rollout-3",
  });
});

it("of failed keys begins with every version that has taken over, except the first, unless the spec disables it", () => {
  expect(wantedRetries(spec({}), {})).toBeUndefined();
  expect(wantedRetries(spec({}), status(1))).toBeUndefined();
  expect(wantedRetries(spec({}), status(2))).toEqual({ name: "rollout-2" });
  expect(wantedRetries(spec({ campaign: { name: "a", perSecond: 3, paused: true } }), status(3))).toEqual({
    name: "rollout-3",
    perSecond: 3,
  });
  for (const onRollout of ["none", "campaign"])
    expect(wantedRetries(spec({ onRollout }), status(3))).toBeUndefined();
});
