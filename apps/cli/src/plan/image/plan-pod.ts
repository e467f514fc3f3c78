import {
  defaultRunSettings,
  duplicateVariable,
  functionPodSpec,
  parseDuration,
  planVariables,
  portOf,
  probesOf,
  redisVariables,
  stopGraceOf,
  webhookFolder,
  webhookVariables,
} from "@drover/controller";
import type { NewObject } from "@drover/kube";
import { CommandError } from "../../command-error.ts";
import type { FunctionManifest } from "../../deploy/read-manifests.ts";

/** The label of the objects that a plan makes. The deployer, the scaler and the function's Service select another one. */
export const planLabel = "drover.dev/plan";
/** The annotation with the secret of the calls. It exists only as long as the Pod. */
const secretAnnotation = "drover.dev/plan-secret";
/** A runtime that does not know plans must not find Redis. */
const ofRedis = Object.values(redisVariables).map((name) => ({ name }));
/** Seconds after which the kubelet ends a Pod that was not deleted. */
export const longestPlan = 600;

export interface PlanPodOptions {
  readonly spec: FunctionManifest["spec"];
  readonly identity: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly image: string;
  /** The secret that its calls are signed with. */
  readonly secret: string;
  /** The name of the Pod and of its NetworkPolicy. */
  readonly name: string;
}

const metadataOf = ({ name, identity }: PlanPodOptions) => ({
  name,
  namespace: identity.namespace,
  labels: { [planLabel]: identity.name },
});

/**
 * A Pod that answers calls as a Pod of the function does, with the container that its ReconcileFunction declares. It has
 * neither the function's ServiceAccount nor any of Drover's Secrets, nor the labels and annotations of the container, by
 * which others might select it or add credentials.
 *
 * @throws CommandError if the container sets a variable that Drover sets.
 */
export function planPod(options: PlanPodOptions): NewObject {
  const { spec, identity, image, secret } = options;
  const { timeout = defaultRunSettings.timeout } = spec;
  const container: NonNullable<typeof spec.container> = { ...spec.container, image };
  const grace = stopGraceOf(parseDuration(timeout));
  const own = container.env ?? [];
  const pulls = spec.delivery !== "webhook";
  const ours = (pulls ? planVariables : webhookVariables)(identity, container, grace);
  const twice = duplicateVariable(own, [...ours, ...(pulls ? ofRedis : [])]);
  if (twice !== undefined)
    throw new CommandError(`spec.container.env: ${twice} is set by Drover. Leave it out.`);
  const metadata = metadataOf(options);
  const { containers, volumes, ...pod } = functionPodSpec({
    serviceAccountName: "default",
    ownLabels: metadata.labels,
    container,
    env: [...ours, ...own],
    grace,
    probes: probesOf("webhook"),
  });
  const fieldRef = { fieldPath: `metadata.annotations['${secretAnnotation}']` };
  const downwardAPI = { defaultMode: 0o440, items: [{ path: "current", fieldRef }] };
  return {
    metadata: { ...metadata, annotations: { [secretAnnotation]: secret } },
    spec: {
      ...pod,
      automountServiceAccountToken: false,
      restartPolicy: "Never",
      activeDeadlineSeconds: longestPlan,
      // No run of a plan has to end.
      terminationGracePeriodSeconds: 1,
      containers: containers.map((one) => ({
        ...one,
        // The kubelet would end a container that is not Ready yet, and the reason would be lost.
        livenessProbe: undefined,
        volumeMounts: [{ name: "drover", mountPath: webhookFolder, readOnly: true }, ...one.volumeMounts],
      })),
      volumes: [{ name: "drover", downwardAPI }, ...volumes],
    },
  };
}

/** Lets in the API server, which has no label, at the function's port, and nothing out. */
export const planPolicy = (options: PlanPodOptions): NewObject => {
  const metadata = metadataOf(options);
  return {
    metadata,
    spec: {
      podSelector: { matchLabels: metadata.labels },
      policyTypes: ["Ingress", "Egress"],
      ingress: [{ ports: [{ port: portOf(options.spec.container ?? {}) }] }],
      egress: [],
    },
  };
};
