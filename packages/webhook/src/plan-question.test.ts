import { expect, it } from "vitest";
import { type PlanAnswer, readPlanAnswer } from "./plan-question.ts";
import { readAnswer } from "./received-answer.ts";

const bytes = (value: object): Uint8Array => Buffer.from(JSON.stringify(value));
const described: PlanAnswer = {
  type: "dev.drover.plan.v1",
  controller: "cups",
  composes: true,
  finalizes: false,
  related: [{ group: "", plural: "secrets", names: ["a"] }],
};

it("an answer to a question of a plan is none to a call, and the other way round", () => {
  expect(readPlanAnswer(bytes(described))).toEqual({ ok: true, message: described });
  expect(readAnswer(bytes(described))).toMatchObject({ ok: false });
  for (const answer of [{ outcome: "composed", children: [] }, { outcome: "finalized" }]) {
    expect(readPlanAnswer(bytes(answer))).toMatchObject({ ok: false });
    expect(readPlanAnswer(bytes({ ...described, ...answer }))).toMatchObject({ ok: false });
    expect(readAnswer(bytes({ ...described, ...answer }))).toMatchObject({ ok: false });
  }
  expect(readPlanAnswer(bytes({ ...described, type: "dev.drover.plan.v2" }))).toMatchObject({ ok: false });
});
