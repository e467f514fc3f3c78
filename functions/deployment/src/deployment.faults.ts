import { faultScenario, type User } from "@drover/testing";
import { bothDeployed, bothFunctions, deployments, makeReady, sets, web } from "./testing/web.ts";

const allReady = {
  title: "all its pods become ready",
  async act(user: User) {
    const [deployment] = await user.list(deployments);
    const ours = (await user.list(sets)).filter(({ metadata }) =>
      metadata.ownerReferences?.some(({ uid }) => uid === deployment?.metadata.uid),
    );
    await makeReady(user, ours);
  },
};

const keepingOne = { revisionHistoryLimit: 1 };
export const rolled = faultScenario({
  name: "a Deployment comes, rolls to another image, and goes",
  start: bothFunctions,
  deployedAs: bothDeployed,
  except: {
    "deleted after step 5": "without a kubelet the new pods do not become ready, and an old set stays gone",
  },
  steps: [
    { apply: web("web:1", 2, keepingOne) },
    allReady,
    { apply: web("web:2", 2, keepingOne) },
    allReady,
    allReady,
    { delete: { ...deployments, name: "web" } },
  ],
});

const recreating = { revisionHistoryLimit: 1, strategy: { type: "Recreate" } };
export const recreated = faultScenario({
  name: "a Deployment is recreated",
  start: bothFunctions,
  deployedAs: bothDeployed,
  except: { "deleted after step 3": "an old set stays gone" },
  steps: [{ apply: web("web:1", 1, recreating) }, allReady, { apply: web("web:2", 1, recreating) }],
});

export default rolled;
