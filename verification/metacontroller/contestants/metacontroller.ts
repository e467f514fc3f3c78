import { apiVersionOf } from "@drover/kube";
import { killAll, spawnTied, type TiedProcess } from "@drover/local-servers";
import { join } from "node:path";
import { argsFor, declareComposite, program } from "../../../bench/peers/peers/metacontroller.ts";
import { childKinds } from "../histories/actions.ts";
import { type Contestant, type ContestantOptions, installParents, methodOf } from "./contestant.ts";

/** Metacontroller, with a CompositeController whose sync hook is this. */
export async function openMetacontroller(options: ContestantOptions): Promise<Contestant> {
  const { kubeconfig, client, hooks, folder } = options;
  const parents = await installParents(client, "metacontroller");
  await declareComposite(client, {
    name: "bundles",
    spec: {
      generateSelector: true,
      parentResource: { apiVersion: apiVersionOf(parents), resource: parents.plural },
      childResources: Object.values(childKinds).map((ref) => ({
        apiVersion: apiVersionOf(ref),
        resource: ref.plural,
        updateStrategy: { method: methodOf(ref.kind) },
      })),
      hooks: { sync: { webhook: { url: `${hooks.origin}/metacontroller`, timeout: "30s" } } },
    },
  });
  let running: readonly TiedProcess[] = [];
  return {
    name: "Metacontroller",
    parents,
    async start() {
      running = [
        await spawnTied({
          name: "metacontroller",
          command: program,
          args: argsFor(16),
          env: { KUBECONFIG: kubeconfig },
          logFile: join(folder, "metacontroller.log"),
        }),
      ];
    },
    kill: () => killAll(running),
    async stop() {
      await Promise.all(running.map((child) => child.stop()));
    },
  };
}
