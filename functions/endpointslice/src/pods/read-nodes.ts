import { builtin, type KubeObject } from "@drover/kube";
import type { EndpointSliceRunContext } from "../endpoint-slice-run.ts";

/** The zones of nodes, by their names; undefined for a node without one. A node that does not exist is missing. */
export type Zones = ReadonlyMap<string, string | undefined>;

export const zoneLabel = "topology.kubernetes.io/zone";

/** With more nodes than this, one list of all nodes costs less than a request for each. */
const manyNodes = 20;

/** The zones of these nodes, and possibly of others. */
export async function readZones(
  { client, context: { signal } }: EndpointSliceRunContext,
  names: ReadonlySet<string>,
): Promise<Zones> {
  const find = (name?: string): Promise<readonly KubeObject[]> =>
    client.find(builtin.node, {
      ...(name !== undefined && { fields: { selector: `metadata.name=${name}`, holds: isNamed(name) } }),
      metadataOnly: true,
      signal,
    });
  const nodes =
    names.size > manyNodes ? await find() : (await Promise.all([...names].map((name) => find(name)))).flat();
  return new Map(
    nodes.map(({ metadata: { name, labels } }) => {
      const zone = labels?.[zoneLabel] ?? "";
      return [name, zone === "" ? undefined : zone];
    }),
  );
}

const isNamed =
  (name: string) =>
  ({ metadata }: KubeObject): boolean =>
    metadata.name === name;
