import { type Milliseconds, oneLine, ReconcileFunction } from "@drover/controller";
import { annotationsOfAuthor, type CurrentUser, currentUser } from "@drover/runtime";
import { builtin, keyOf, type KubeClient, type NewObject, refOf, waitEstablished } from "@drover/kube";
import type { SelectedCluster } from "../cluster-options.ts";
import { CommandError } from "../command-error.ts";
import { explainNotServed } from "../deployed-functions.ts";
import { checkPolicies } from "../doctor/check-api-server.ts";
import { checkParts, type PartsToCheck } from "../doctor/check-parts.ts";
import { describeFindings, unlessForbidden } from "../doctor/finding.ts";
import { conditionOf } from "../object-conditions.ts";
import { shortDuration } from "../short-duration.ts";
import { type ApplyResult, applyManifest } from "./apply-manifest.ts";
import { checkPermissions } from "./check-permissions.ts";
import { type FunctionManifest, readManifests } from "./read-manifests.ts";
import { waitForRollout } from "./wait-for-rollout.ts";

export interface DeployOptions {
  /** The folder of manifests. */
  readonly folder: string;
  /** The namespace of --namespace. It must equal the manifest's, if that has one. */
  readonly namespace: string | undefined;
  /** How long a function may take to roll out. 0: do not wait. */
  readonly wait: Milliseconds;
  /** The namespace in which Drover is installed. */
  readonly droverNamespace: string;
  /** How long a CRD may take to be served. Default: a minute. */
  readonly crdWithin?: Milliseconds;
  /** Makes the image of the function, and returns its name. Default: the manifest names an image that is there. */
  readonly push?: (() => Promise<string>) | undefined;
  readonly print: (line: string) => void;
}

const ref = refOf(ReconcileFunction);

/**
 * Applies the CRDs and the functions of a folder, and waits until the functions are rolled out. Writes nothing until it
 * has checked that the user may deploy all of them. Idempotent.
 */
export async function deploy(cluster: SelectedCluster, options: DeployOptions): Promise<void> {
  const { folder, namespace, wait, crdWithin = 60_000, push, print } = options;
  const { client } = cluster;
  const { crds, functions } = readManifests(folder);
  const placed = functions.map((one) => placedIn(one, namespace, cluster.namespace));
  if (push !== undefined) rejectSeveral(folder, functions);
  await rejectUninstalled(client, placed);
  const asker = await currentUser(client);
  if (asker === undefined)
    print("This server does not review permissions for users; the deployer will check them.");
  for (const one of placed) {
    if (asker !== undefined) {
      await checkPermissions(client, one, { namespace: one.metadata.namespace, asker });
    }
  }
  const isCalled = functions.some(({ spec }) => spec.delivery === "webhook");
  for (const line of await problemsOf(client, { namespace: options.droverNamespace, isCalled })) print(line);
  const image = await push?.();
  if (image !== undefined) print(`Image ${image}: pushed`);
  for (const crd of crds) {
    print(`CRD ${crd.metadata.name}: ${await applyCrd(client, crd, crdWithin)}, and served`);
  }
  for (const one of placed) {
    const did = await applyFunction(client, withImage(one, image), asker);
    print(`ReconcileFunction ${keyOf(one)}: ${did}`);
  }
  if (wait === 0) return;
  for (const one of placed) await reportRollout(client, one, { wait, print });
}

/** The findings of `drover doctor` on the parts that functions need. A user may repair these while the command waits. */
async function problemsOf(client: KubeClient, parts: PartsToCheck): Promise<readonly string[]> {
  const checks = [() => checkPolicies(client), () => checkParts(client, parts)];
  const found = await Promise.all(checks.map((check) => unlessForbidden("", check)));
  return describeFindings(found.flat().filter(({ level }) => level === "problem" || level === "warning"));
}

/** Reads before anything is written, so that a cluster without Drover gets no CRDs either. */
async function rejectUninstalled(client: KubeClient, functions: readonly PlacedManifest[]): Promise<void> {
  for (const one of functions) {
    await client.get(ref, keyOf(one)).catch(explainNotServed);
  }
}

async function applyCrd(client: KubeClient, crd: NewObject, crdWithin: Milliseconds): Promise<ApplyResult> {
  const did = await applyManifest(client, builtin.crd, crd, { remembers: false, annotations: {} });
  const { name } = crd.metadata;
  const signal = AbortSignal.timeout(crdWithin);
  await waitEstablished(client, name, { signal }).catch((cause: unknown) => {
    if (!signal.aborted) throw cause;
    throw new CommandError(
      `The CRD ${name} is not served after ${shortDuration(crdWithin)}. Its conditions show why: kubectl describe crd ${name}`,
      { cause },
    );
  });
  return did;
}

/** A folder has one Dockerfile. */
function rejectSeveral(folder: string, functions: readonly FunctionManifest[]): void {
  if (functions.length === 1 && functions[0]?.spec.container !== undefined) return;
  throw new CommandError(
    `--push needs one function, with a container, in ${folder}. Build the images yourself, and leave --push out.`,
  );
}

function withImage(manifest: PlacedManifest, image: string | undefined): PlacedManifest {
  const { container, ...spec } = manifest.spec;
  if (image === undefined || container === undefined) return manifest;
  return { ...manifest, spec: { ...spec, container: { ...container, image } } };
}

type PlacedManifest = FunctionManifest & { readonly metadata: { readonly namespace: string } };

function placedIn(
  { metadata, spec }: FunctionManifest,
  requested: string | undefined,
  usual: string,
): PlacedManifest {
  const { name, namespace = requested ?? usual } = metadata;
  if (requested !== undefined && namespace !== requested) {
    throw new CommandError(
      `${name} is for the namespace ${namespace}, as its manifest states, and not for ${requested}. Change its definition, ` +
        "or leave --namespace out.",
    );
  }
  return { metadata: { ...metadata, namespace }, spec };
}

/**
 * Sets the author annotations. From Kubernetes 1.36 on, an admission policy sets them; on older versions the policies
 * require the client to do it.
 */
async function applyFunction(
  client: KubeClient,
  manifest: PlacedManifest,
  asker: CurrentUser | undefined,
): Promise<ApplyResult> {
  const author = await annotationsOfAuthor(client, asker);
  const options = { remembers: true, annotations: author };
  return applyManifest(client, ref, { ...manifest }, options).catch(explainNotServed);
}

async function reportRollout(
  client: KubeClient,
  manifest: PlacedManifest,
  { wait, print }: Pick<DeployOptions, "wait" | "print">,
): Promise<void> {
  const key = keyOf(manifest);
  const onProgress = (words: string): void => print(`${key}: not rolled out yet: ${words}`);
  const { reason, message } = await waitForRollout({ client, ref, key }, wait, onProgress);
  print(oneLine(`${key} is Ready: ${reason}: ${message}`));
  const object = await client.get(ref, key);
  const degraded = object && conditionOf(object, "Degraded");
  if (degraded?.status === "True") print(oneLine(`${key} is degraded: ${degraded.message}`));
}
