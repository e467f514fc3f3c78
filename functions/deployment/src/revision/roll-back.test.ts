import { replicaSetSchema } from "@drover/workloads";
import { describe, expect, it } from "vitest";
import { decideDraft, deploymentOf, setOf, sizes, template } from "../testing/drafts.ts";

const revision = "deployment.kubernetes.io/revision";
const request = "deprecated.deployment.rollback.to";
/** Ages and revisions differ in order: there was a rollback before. */
const sets = [
  setOf("web:c", { size: 0, annotations: { [revision]: "3", "example.com/team": "c" } }),
  setOf("web:a", { size: 0, annotations: { [revision]: "1" }, age: 1 }),
  setOf("web:new", { annotations: { [revision]: "5", "example.com/team": "new" }, age: 2 }),
  setOf("web:d", { size: 0, annotations: { [revision]: "4" }, age: 3 }),
  setOf("web:b", { size: 0, annotations: { [revision]: "2" }, age: 4 }),
];
const asking = (to: string, spec: object = {}, all = sets) =>
  decideDraft(
    deploymentOf(spec, {
      annotations: { [request]: to, [revision]: "5", "example.com/team": "new", "example.com/only": "new" },
    }),
    all,
  );

describe("a request to go back", () => {
  it.each([
    ["0", "web:d"],
    ["1", "web:a"],
    ["3", "web:c"],
  ])("to revision %s brings the template of that revision, without the label of its set", (to, image) => {
    const labelled = sets.map((one) => {
      const { metadata } = one.spec.template;
      const labels = { ...metadata.labels, "pod-template-hash": "h" };
      return {
        ...one,
        spec: { ...one.spec, template: { ...one.spec.template, metadata: { ...metadata, labels } } },
      };
    });
    const draft = asking(to, {}, labelled);
    expect(draft.template).toEqual(template(image));
    expect(draft.annotations).not.toHaveProperty([request]);
    expect(draft.announcements.map(({ reason }) => reason)).toEqual(["DeploymentRollback"]);
  });

  it("to the one before finds it wherever it stands", () => {
    for (const all of [sets, sets.slice(1, 3), [...sets.slice(2, 3), ...sets.slice(4)]]) {
      const images = all.map(({ spec }) => /web:\w+/.exec(JSON.stringify(spec.template))?.[0]);
      const before = ["web:d", "web:c", "web:b", "web:a"].find((image) => images.includes(image)) ?? "";
      expect(asking("0", {}, all).template).toEqual(template(before));
    }
  });

  it("brings the annotations of that revision, and takes away those that it did not have", () => {
    expect(asking("3").annotations).toEqual({ [revision]: "5", "example.com/team": "c" });
  });

  it.each([
    ["7", "DeploymentRollbackRevisionNotFound"],
    ["5", "DeploymentRollbackTemplateUnchanged"],
  ])("to revision %s changes no template, announces why, and is removed", (to, reason) => {
    const draft = asking(to);
    expect([draft.template, draft.annotations[request]]).toEqual([undefined, undefined]);
    expect(draft.annotations).toMatchObject({ "example.com/only": "new" });
    expect(draft.announcements.map((one) => one.reason)).toEqual([reason]);
  });

  it("to the one before, where there is none, changes nothing", () => {
    const draft = asking("0", {}, [setOf("web:new", { annotations: { [revision]: "5" } })]);
    expect([draft.template, draft.announcements.map(({ reason }) => reason)]).toEqual([
      undefined,
      ["DeploymentRollbackRevisionNotFound"],
    ]);
  });

  it("begins when the template is a revision itself", () => {
    const first = asking("1", { replicas: 3 }, []);
    expect(sizes(first)).toEqual({ "web:new": 3 });
    expect(first.announcements.map(({ reason }) => reason)).toEqual(["ScalingReplicaSet"]);
    expect(first.annotations[request]).toBe("1");
    const { set, annotations } = first.sets[0]!;
    const made = replicaSetSchema.parse({ ...set, metadata: { ...set.metadata, annotations } });
    const next = asking("1", { replicas: 3 }, [made]);
    expect(next.announcements.map(({ reason }) => reason)).toEqual(["DeploymentRollbackTemplateUnchanged"]);
  });

  it("makes no set beside old ones that are to end first", () => {
    const draft = asking("1", { strategy: { type: "Recreate" } }, [setOf("web:old", { size: 3 })]);
    expect(sizes(draft)).toEqual({ "web:old": 3 });
    expect(draft.announcements.map(({ reason }) => reason)).toEqual(["DeploymentRollbackRevisionNotFound"]);
  });

  it("waits while the Deployment is paused, and the revision to go back to stays", () => {
    const draft = asking("1", { paused: true, revisionHistoryLimit: 0 });
    expect([draft.template, draft.annotations[request]]).toEqual([undefined, "1"]);
    expect(draft.sets.some(({ isToBeDeleted }) => isToBeDeleted)).toBe(false);
  });
});
