import { expect, it } from "vitest";
import { type Action, childId } from "./actions.ts";
import { after, nothing, stuckIn } from "./expected.ts";
import { historyOf } from "./generate.ts";

const many = Array.from({ length: 300 }, (_, seed) => historyOf(seed));
/** The actions, without the restarts around them. */
const bare = (action: Action): Action => (action.do === "restart" ? bare(action.meanwhile) : action);
const all = many.flatMap(({ actions }) => actions);

it("is the same for the same seed", () => {
  expect(historyOf(7)).toEqual(historyOf(7));
  expect(historyOf(7)).not.toEqual(historyOf(8));
});

it("has all actions, and children of all kinds that are stuck in either way", () => {
  expect([...new Set(all.map((action) => action.do))].toSorted()).toEqual([
    ...["create", "declare", "delete", "deleteChild", "edit", "free", "restart", "take"],
  ]);
  const stuck = many.flatMap(({ actions }) => {
    let expected = nothing;
    return actions.flatMap((action) => {
      expected = after(expected, action);
      return stuckIn(expected).map((id) => ({
        kind: id.split("/")[0],
        isRefused: expected.refused.includes(id),
      }));
    });
  });
  const kinds = (isRefused: boolean) =>
    new Set(stuck.filter((one) => one.isRefused === isRefused).map(({ kind }) => kind));
  expect(kinds(false)).toEqual(new Set(["ConfigMap", "Secret", "Service", "Deployment"]));
  expect(kinds(true)).toEqual(new Set(["ConfigMap", "Service", "Deployment"]));
});

it("does only what is possible", () => {
  for (const { actions } of many) {
    let expected = nothing;
    for (const action of actions.map(bare)) {
      const made = expected.declared.map(childId).filter((id) => !stuckIn(expected).includes(id));
      if (action.do === "create") expect(expected.parent).toBe(false);
      if (action.do === "declare" || action.do === "delete") expect(expected.parent).toBe(true);
      if (action.do === "deleteChild" || action.do === "edit") expect(made).toContain(action.child);
      if (action.do === "take") {
        expect(expected.declared.map(childId)).not.toContain(childId(action.object));
        expect(stuckIn(expected)).toEqual([]);
      }
      if (action.do === "free") expect(expected.taken).toContain(action.child);
      expected = after(expected, action);
      const ids = expected.declared.map(childId);
      expect(new Set(ids).size).toBe(ids.length);
    }
  }
});

it("is data", () => {
  expect(JSON.parse(JSON.stringify(all))).toEqual(all);
});
