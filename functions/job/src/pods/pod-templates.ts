import type { Pod, PodTemplate } from "@drover/workloads";
import { z } from "zod";
import { isIndexed, type JobObject, trackingFinalizer } from "../job.ts";
import { earlierFailures, jobAnnotations } from "./job-pod.ts";
import { isIgnored } from "../end/pod-failure-policy.ts";

/** The template of a Job's pods: with the finalizer that holds a pod until it is counted. */
export function trackedTemplate({ spec }: JobObject): PodTemplate {
  const { metadata, spec: podSpec } = spec.template;
  const { finalizers = [] } = metadata;
  return {
    ...spec.template,
    metadata: { ...metadata, finalizers: [...new Set([...finalizers, trackingFinalizer])] },
    ...(podSpec && { spec: isIndexed(spec) ? withIndexVariable(podSpec) : podSpec }),
  };
}

const indexVariable = {
  name: "JOB_COMPLETION_INDEX",
  valueFrom: { fieldRef: { fieldPath: `metadata.labels['${jobAnnotations.index}']` } },
};
const containers = z.array(z.looseObject({ env: z.array(z.looseObject({ name: z.string() })).optional() }));
const podSpecSchema = z.looseObject({
  initContainers: containers.optional(),
  containers: containers.optional(),
});

/** Containers get their index in a variable, unless they have one of that name. */
function withIndexVariable(spec: object): object & Record<string, unknown> {
  const parsed = podSpecSchema.parse(spec);
  const withVariable = (all: z.output<typeof containers>) =>
    all.map((container) => {
      const { env = [] } = container;
      const has = env.some(({ name }) => name === indexVariable.name);
      return has ? container : { ...container, env: [...env, indexVariable] };
    });
  return {
    ...parsed,
    ...(parsed.initContainers && { initContainers: withVariable(parsed.initContainers) }),
    ...(parsed.containers && { containers: withVariable(parsed.containers) }),
  };
}

/**
 * The template of the pod of an index.
 *
 * @param replaced the pod of the index that has failed last, with `backoffLimitPerIndex`.
 */
export function indexedTemplate(
  job: JobObject,
  template: PodTemplate,
  index: number,
  replaced: Pod | undefined,
): PodTemplate {
  const { metadata, spec } = template;
  const mark = { [jobAnnotations.index]: String(index) };
  return {
    ...template,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...mark },
      annotations: { ...metadata.annotations, ...mark, ...failureCounts(job, replaced) },
    },
    spec: { ...spec, hostname: `${job.metadata.name}-${index}` },
  };
}

function failureCounts({ spec }: JobObject, replaced: Pod | undefined): Readonly<Record<string, string>> {
  if (spec.backoffLimitPerIndex === undefined) return {};
  const before = replaced === undefined ? { counted: 0, ignored: 0 } : earlierFailures(replaced);
  const counts = replaced !== undefined && !isIgnored(spec, replaced);
  const counted = before.counted + (counts ? 1 : 0);
  const ignored = before.ignored + (replaced !== undefined && !counts ? 1 : 0);
  return {
    [jobAnnotations.failures]: String(counted),
    ...(ignored > 0 && { [jobAnnotations.ignoredFailures]: String(ignored) }),
  };
}
