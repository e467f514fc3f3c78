import { matchesLabels } from "@drover/kube";
import type { PlacedTemplate } from "../daemon-set.ts";
import type { Node } from "./node.ts";
import { matchesAffinity } from "./node-affinity.ts";
import { hasUntolerated, withAutomatic } from "./tolerations.ts";

/**
 * The relation of a node to a template's pods: `run` if it should have one, `keep` if one that it has may stay, `none` if
 * it should have none.
 */
export type Placement = "run" | "keep" | "none";

/** As kube-controller-manager decides it (NodeShouldRunDaemonPod): a taint keeps pods away, and `NoExecute` ends them. */
export function placementOn(node: Node, { spec }: PlacedTemplate): Placement {
  const { nodeName = "", nodeSelector, affinity, tolerations } = spec;
  const { name, labels } = node.metadata;
  if (nodeName !== "" && nodeName !== name) return "none";
  if (!matchesLabels({ matchLabels: nodeSelector }, labels) || !matchesAffinity(affinity, node))
    return "none";
  const tolerated = withAutomatic(tolerations, spec);
  const { taints = [] } = node.spec;
  if (!hasUntolerated(taints, tolerated, ["NoSchedule", "NoExecute"])) return "run";
  return hasUntolerated(taints, tolerated, ["NoExecute"]) ? "none" : "keep";
}
