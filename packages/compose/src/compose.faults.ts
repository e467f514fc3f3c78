import type { Child } from "@drover/controller";
import { faultScenario, type User } from "@drover/testing";
import {
  controllerOfWebsites,
  kinds,
  ownsEverywhere,
  website,
  websiteKind,
  websites,
} from "./website.fixture.ts";

const isReady = {
  title: "its Deployment becomes ready",
  async act(user: User): Promise<void> {
    const found = await user.get(kinds.deployment, "a");
    if (found === undefined) return; // Its wave has not begun: an object of others has the name of a child before it.
    const counts = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
    const status = { ...counts, observedGeneration: found.metadata.generation };
    await user.writeStatus({ ...kinds.deployment, metadata: { name: "a" }, status });
  },
};
const gone = { delete: { ...websiteKind, name: "a" } };

export const composed = faultScenario({
  name: "a website is published, changed and deleted",
  start: () => websites(),
  except: { "deployments.apps default/a deleted": "without a kubelet the new one does not become ready" },
  steps: [
    { apply: website({ html: "Hi", public: true }) },
    isReady,
    { apply: website({ html: "Ho", public: false }) },
    gone,
  ],
});

const configMap = (name: string, data: object) => ({ ...kinds.configMap, metadata: { name }, data });

/** One child in each wave, of which one is recreated, and two outlive their parent. */
const inWaves = () =>
  controllerOfWebsites(({ metadata: { name }, spec }) => {
    const first: Child = { object: configMap("first", { html: spec.html }), deletion: "Retain" };
    const labels = { app: spec.html };
    const object = {
      ...kinds.deployment,
      metadata: { name },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } },
      },
    };
    const deployment: Child = { object, wave: 1, update: "Recreate" };
    const last: Child = { object: configMap("last", {}), wave: 2, deletion: "Orphan" };
    return { children: [first, deployment, ...(spec.public ? [last] : [])] };
  });

export const waves = faultScenario({
  name: "a website comes in waves, is recreated, and leaves two children behind",
  start: inWaves,
  except: {
    "deployments.apps default/a deleted": "without a kubelet the new one does not become ready",
    "step 3 with no run after step 2": "the last wave has not begun, and is not declared any more afterwards",
    "step 6 with no run after step 5":
      "a child to be released keeps Drover's labels if its parent goes first",
    "deleted after step 6": "their parent is gone: nothing makes them again",
  },
  steps: [
    { apply: website({ html: "one", public: true }) },
    isReady,
    { apply: website({ html: "two", public: true }) },
    isReady,
    { apply: website({ html: "two", public: false }) },
    gone,
  ],
});

/** A child in another namespace, which has another name after a change, and a cluster-scoped one. */
const inOthers = () =>
  controllerOfWebsites(
    ({ spec }) => {
      const page = { ...kinds.configMap, metadata: { name: spec.html, namespace: "kube-system" } };
      return { children: [page, { apiVersion: "v1", kind: "Node", metadata: { name: "node" } }] };
    },
    { owns: ownsEverywhere },
  );

export const elsewhere = faultScenario({
  name: "a website has children in another namespace, changes them, and is deleted",
  start: inOthers,
  steps: [
    { apply: website({ html: "one" }) },
    { apply: website({ html: "two" }) },
    { apply: website({ html: "two", replicas: 2 }) },
    gone,
  ],
});

export default composed;
