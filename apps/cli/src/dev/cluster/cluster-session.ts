import {
  type Log,
  messageOf,
  objectKey,
  type ObjectKey,
  oneLine,
  sessionLabel,
  tryParseObjectKey,
} from "@drover/controller";
import { builtin, isApiError, type KubeClient, refOf, resourceNameOf, type ResourceRef } from "@drover/kube";
import { randomBytes } from "node:crypto";
import { userInfo } from "node:os";
import { CommandError } from "../../command-error.ts";
import type { DevSession } from "@drover/runtime";
import type { FunctionManifest } from "../../deploy/read-manifests.ts";
import type { ExampleUser } from "../example-objects.ts";
import type { FunctionFolder } from "../function-folder.ts";
import type { DevManifests } from "../load-manifests.ts";
import type { Story } from "../story.ts";
import { embeddedDeployment } from "./embedded-deployment.ts";
import { labellingUser } from "./labelling-user.ts";
import { type FollowedSession, followSession } from "./follow-session.ts";
import { missingFields } from "./missing-fields.ts";
import { checkSessionAccess } from "./session-access.ts";
import { removal, type SessionLabels, sessionLabels } from "./session-labels.ts";

/** The choices of a user who runs a function against a cluster. */
export interface ClusterChoice {
  /** The path of the kubeconfig. */
  readonly kubeconfig: string;
  readonly context: string | undefined;
  /** The namespaces with the objects that the session may reconcile. Empty: those of the function. */
  readonly namespaces: readonly string[];
  /** `name` or `namespace/name` of the objects to reconcile from the start. */
  readonly objects: readonly string[];
}

/** A session in a cluster, beside a function that may be deployed there. */
export interface ClusterSession {
  readonly session: DevSession;
  readonly ref: ResourceRef;
  readonly user: ExampleUser;
  /** For a person: the names of the session and of the commands that belong to it. */
  readonly guide: string;
  /**
   * The function's manifest, restricted to the session's objects.
   * @throws CommandError if the kind is another one, or permissions are missing.
   */
  restrict(manifests: DevManifests): Promise<FunctionManifest>;
  /** Follows the session's objects and takes the chosen ones. `wake` runs a key. */
  begin(wake: (key: ObjectKey) => Promise<void>): Promise<void>;
  /** True if the session may reconcile the object. */
  isHere(key: string): boolean;
  /** Gives all objects back to the deployed function. No run of the session may be in progress. */
  end(): Promise<void>;
}

export interface ClusterSessionOptions {
  readonly client: KubeClient;
  readonly choice: ClusterChoice;
  readonly folder: Pick<FunctionFolder, "path" | "isCalled">;
  /** The namespace of the kubeconfig's context. */
  readonly namespace: string;
  readonly story: Story;
  readonly log: Log;
}

/** @throws CommandError if the cluster does not serve the kind, or permissions are missing. */
export async function openClusterSession(
  options: ClusterSessionOptions,
  manifests: DevManifests,
): Promise<ClusterSession> {
  const { client, choice, folder, namespace, story, log } = options;
  const session = { name: sessionName(), secret: randomBytes(32).toString("base64url") };
  const { for: kind } = manifests.manifest.spec;
  const ref = refOf(kind);
  const namespaces = choice.namespaces.length > 0 ? choice.namespaces : kind.namespaces;
  const embedded = embeddedDeployment(folder.path);
  const labels = sessionLabels({ client, ref, namespaces, session });
  const keyOfName = (text: string): ObjectKey => keyIn(ref, text, namespaces?.[0] ?? namespace);
  const reportMissing = missingFieldsReporter({ client, story, folder }, ref);
  const restrict: ClusterSession["restrict"] = async ({ manifest, crds }) => {
    await reportMissing(crds);
    const spec = restricted(manifest.spec, { ref, session: session.name, namespaces });
    await checkSessionAccess(client, spec, { namespace: manifest.metadata.namespace ?? "default", embedded });
    return { ...manifest, spec };
  };
  await restrict(manifests);
  await reportOthers(labels, ref, story);
  for (const object of choice.objects) await labels.find(keyOfName(object));
  const stop = new AbortController();
  let followed: FollowedSession | undefined;
  return {
    session,
    ref,
    restrict,
    user: labellingUser({ client, ref, session: session.name, labels, keyOf: keyOfName }),
    guide: guideOf(ref, session.name),
    async begin(wake) {
      followed = followSession({
        client,
        ref,
        embedded,
        namespaces,
        session,
        labels,
        hasStatus: isDefinedBy(manifests, ref),
        onAcknowledged: wake,
        print: (text) => story.print(text),
        log,
        signal: stop.signal,
      });
      for (const object of choice.objects) await labels.take(keyOfName(object));
    },
    isHere: (key) => {
      const parsed = tryParseObjectKey(key);
      return parsed !== undefined && followed?.isHere(parsed) === true;
    },
    async end() {
      stop.abort();
      await followed?.done;
      const keys = await labels.giveBack().catch(explainLeftLabels(ref, session.name));
      if (keys.length > 0) story.print(`Given back: ${keys.join(", ")}.`);
    },
  };
}

/** Reports the fields that the cluster's CRD lacks: once, until they are others. Nothing if it may not be read. */
function missingFieldsReporter(
  { client, story, folder }: Pick<ClusterSessionOptions, "client" | "story" | "folder">,
  ref: ResourceRef,
) {
  const generate = folder.isCalled ? "" : "drover generate, and ";
  let reported = "";
  return async (crds: DevManifests["crds"]): Promise<void> => {
    const name = resourceNameOf(ref);
    const own = crds.find(({ metadata }) => metadata.name === name);
    const there = own && (await client.get(builtin.crd, objectKey({ name })).catch(unlessForbidden));
    const fields = own && there ? missingFields(own, there, ref.version).join(", ") : "";
    if (fields !== "" && fields !== reported)
      story.print(
        `The cluster's CRD ${name} lacks fields of the code, and the API server drops them: ${oneLine(fields)}. To add them: ` +
          `${generate}kubectl apply -f deploy/crd.yaml`,
      );
    reported = fields;
  };
}

function unlessForbidden(error: unknown): undefined {
  if (!isApiError(error, "Forbidden")) throw error;
}

const guideOf = (ref: ResourceRef, session: string): string =>
  `Its objects have the label ${sessionLabel}=${session}.\n` +
  "Ctrl-C ends it, and removes the label. If it is killed, the deployed function leaves the objects alone until you do:\n" +
  `  ${removal(ref, session)}`;

const explainLeftLabels =
  (ref: ResourceRef, session: string) =>
  (cause: unknown): never => {
    throw new CommandError(
      `The label ${sessionLabel} could not be removed: ${messageOf(cause)} Until you remove it, the deployed function leaves ` +
        `the objects alone: ${removal(ref, session)}`,
      { cause },
    );
  };

/** The user's name shows others whose session it is. */
function sessionName(): string {
  const random = randomBytes(4).toString("hex");
  try {
    const user = userInfo().username.replaceAll(/[^A-Za-z0-9]/g, "");
    return [user.slice(0, 40), random].filter((part) => part !== "").join("-");
  } catch {
    // A user id without a name, as is usual in containers.
    return random;
  }
}

interface Restriction {
  readonly ref: ResourceRef;
  readonly session: string;
  readonly namespaces: readonly string[] | undefined;
}

/** @throws CommandError if the function is for another kind than that of the session. */
function restricted(
  { for: kind, ...spec }: FunctionManifest["spec"],
  { ref, session, namespaces }: Restriction,
): FunctionManifest["spec"] {
  if (resourceNameOf(refOf(kind)) !== resourceNameOf(ref))
    throw new CommandError("The function is for another kind now. End this session, and start a new one.");
  const { labelSelector = {} } = kind;
  const matchLabels = { ...labelSelector.matchLabels, [sessionLabel]: session };
  const own = {
    ...kind,
    labelSelector: { ...labelSelector, matchLabels },
    ...(namespaces !== undefined && { namespaces: [...namespaces] }),
  };
  return { ...spec, for: own };
}

/** True for a kind of the function's own: Drover then writes its status. */
const isDefinedBy = ({ crds }: DevManifests, ref: ResourceRef): boolean =>
  crds.some(({ metadata }) => metadata.name === resourceNameOf(ref));

/** @throws CommandError if it is not the name of an object. */
function keyIn({ namespaced, kind }: ResourceRef, text: string, namespace: string): ObjectKey {
  const [name = "", given, ...more] = text.split("/").reverse();
  const isComplete = name !== "" && given !== "" && more.length === 0;
  if (isComplete && namespaced) return objectKey({ namespace: given ?? namespace, name });
  if (isComplete && given === undefined) return objectKey({ name });
  throw new CommandError(
    `${oneLine(text)} is not the name of a ${kind}. Give ${namespaced ? "NAME or NAMESPACE/NAME" : "NAME"}.`,
  );
}

/** Also the first request for the kind. */
async function reportOthers(labels: SessionLabels, ref: ResourceRef, story: Story): Promise<void> {
  const others = await labels.others().catch((cause: unknown) => {
    if (!isApiError(cause, "NotServed", "NotFound")) throw cause;
    throw new CommandError(
      `The cluster does not serve ${resourceNameOf(ref)}. Install the kind first: kubectl apply -f deploy/crd.yaml`,
      { cause },
    );
  });
  for (const [session, keys] of others)
    story.print(
      `Objects of the session ${oneLine(session)} of drover dev: ${keys.slice(0, 3).join(", ")}${keys.length > 3 ? ", ..." : ""}. ` +
        `If that session no longer runs: ${removal(ref, oneLine(session))}`,
    );
}
