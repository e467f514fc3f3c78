import { integer, text } from "../bridge/cluster/schema-parts.ts";
import { type Key, numberedKind } from "../bridge/cluster/numbered-kind.ts";

/** The parents. Their controllers write `status.observedGeneration`, and keep five children of each. */
export const sites = numberedKind({
  group: "compose.drover.dev",
  kind: "Site",
  spec: { turn: integer, text },
  subresources: { status: {} },
});

/** The body of the request that creates it: 1 KiB. */
export const site = (key: Key): object =>
  sites.object(key, {}, { spec: { turn: 0, text: `<p>${key} has a page to show.</p>\n`.repeat(25) } });

/** The label that every contestant declares for children. */
const selected = "labelSelector=app.kubernetes.io%2Fpart-of%3Dbench-compose";
export const childrenOfEach = 5;

/** The kinds of children: the paths of all of them, and of those in a namespace. */
export const childKinds = [
  ["/api/v1", "configmaps"],
  ["/api/v1", "serviceaccounts"],
  ["/api/v1", "services"],
  ["/apis/apps/v1", "deployments"],
].map(([group, plural]) => ({
  all: `${group}/${plural}?${selected}`,
  in: (namespace: string) => `${group}/namespaces/${namespace}/${plural}?${selected}`,
}));
