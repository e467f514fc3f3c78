import { messageOf, type Milliseconds, type ReconcileResult } from "@drover/controller";
import { builtin, WriteRefusedError } from "@drover/kube";
import { requeueIn } from "@drover/workloads";
import { type EndpointSlice, endpointSliceSchema, identityOf } from "./endpoint-slice.ts";
import type { EndpointSliceRunContext } from "./endpoint-slice-run.ts";
import { isTopologyAware, openHints } from "./hints/service-hints.ts";
import { type EndpointPod, endpointPodSchema, isEndpoint } from "./pods/endpoint-pod.ts";
import { groupByPorts } from "./pods/group-by-ports.ts";
import { readZones } from "./pods/read-nodes.ts";
import { addressTypesOf, type Service } from "./service.ts";
import { planSlices } from "./slices/plan-slices.ts";
import { triggerTimeOf } from "./slices/trigger-time.ts";
import { deleteSlice, namespaceAndName, writeSlices } from "./slices/write-slices.ts";

/** Time between two runs of a Service with hints by the capacity of zones. */
const hintsPeriod: Milliseconds = 60_000;

/**
 * One run: reads the pods that a Service selects, their nodes and the Service's slices, and writes the slices that differ.
 * A Service without a selector is left alone: others write its slices.
 */
export async function reconcileService(
  runContext: EndpointSliceRunContext,
): Promise<ReconcileResult<typeof Service>> {
  const { selector, type } = runContext.service.spec;
  if (type === "ExternalName" || selector === undefined) return {};
  const [pods, slices] = await Promise.all([findPods(runContext, selector), findSlices(runContext)]);
  const failures = await reconcileSlices(runContext, pods, slices);
  if (failures.length > 0) throw announced(runContext, failures);
  // Its hints depend on nodes, whose changes cause no run.
  const next = isTopologyAware(runContext.service) ? requeueIn(hintsPeriod) : {};
  return { ...next, hasSeenOwnWrites: true };
}

async function findPods(
  { client, context: { signal }, service }: EndpointSliceRunContext,
  selector: Readonly<Record<string, string>>,
): Promise<readonly EndpointPod[]> {
  const { namespace } = service.metadata;
  const pods = await client.find(builtin.pod, { namespace, selector: { matchLabels: selector }, signal });
  return pods.map((pod) => endpointPodSchema.parse(pod));
}

/**
 * The slices of the Service that this controller manages, without those that are being deleted. Their order depends on their
 * endpoints, and not on their names: so what a run does next depends only on what the runs before have published.
 */
async function findSlices({
  client,
  context: { signal },
  service,
}: EndpointSliceRunContext): Promise<readonly EndpointSlice[]> {
  const { namespace } = service.metadata;
  const selector = { matchLabels: identityOf(service) };
  const slices = await client.find(builtin.endpointSlice, { namespace, selector, signal });
  return slices
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((slice) => endpointSliceSchema.parse(slice))
    .sort((a, b) => (firstAddress(a) < firstAddress(b) ? -1 : 1));
}

const firstAddress = ({ endpoints: [first] }: EndpointSlice): string => first?.addresses[0] ?? "";

/** Returns the failures. One of an address type does not prevent the writes of another. */
async function reconcileSlices(
  runContext: EndpointSliceRunContext,
  pods: readonly EndpointPod[],
  slices: readonly EndpointSlice[],
): Promise<readonly unknown[]> {
  const { service, maxEndpointsPerSlice } = runContext;
  const endpoints = pods.filter(isEndpoint);
  const zones = await readZones(runContext, new Set(endpoints.flatMap(({ spec }) => spec.nodeName ?? [])));
  const addHints = await openHints(runContext, slices);
  const families = addressTypesOf(service).map((addressType) => ({
    addressType,
    ...groupByPorts(endpoints, service, { addressType, zones }),
  }));
  const wanted = families.flatMap(({ groups }) => groups.flatMap((group) => [...group.endpoints.values()]));
  const options = { triggerTime: triggerTimeOf(service, { pods, wanted, slices }), seen: slices };
  const failures: unknown[] = families.flatMap(({ problems }) => problems);
  const attempt = (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => {
      if (error instanceof WriteRefusedError) throw error;
      failures.push(error);
    });
  for (const { addressType, groups } of families) {
    const own = slices.filter((slice) => slice.addressType === addressType);
    const plan = planSlices(groups, own, { service, addressType, maxEndpointsPerSlice });
    await attempt(writeSlices(runContext, addHints(plan, addressType), options));
  }
  const others = slices.filter((slice) =>
    families.every(({ addressType }) => addressType !== slice.addressType),
  );
  for (const slice of others) await attempt(deleteSlice(runContext, slice, "error deleting"));
  return failures;
}

/** The error of a run with these failures, after it was published as an Event. */
function announced({ context, service }: EndpointSliceRunContext, failures: readonly unknown[]): unknown {
  const messages = [...new Set(failures.map(messageOf))];
  const all = messages.length === 1 ? messages.join() : `[${messages.join(", ")}]`;
  context.announce({
    type: "Warning",
    reason: "FailedToUpdateEndpointSlices",
    note: `Error updating Endpoint Slices for Service ${namespaceAndName(service)}: ${all}`,
    action: "UpdateEndpointSlices",
  });
  return failures.length === 1 ? failures[0] : new Error(all, { cause: failures[0] });
}
