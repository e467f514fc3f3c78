import { sessionLabel, sessionMarkAnnotation, sessionOf, timestamp } from "@drover/controller";
import { createHmac } from "node:crypto";
import type { KubeClient, KubeObject, ResourceRef } from "@drover/kube";
import type { RunOutcome } from "@drover/queue";
import { conditionsOf } from "../schema/parse-object.ts";
import { acknowledgement, sessionCondition } from "../status/session-condition.ts";

/** A session of `drover dev` in a cluster. */
export interface DevSession {
  /** The value of the label. */
  readonly name: string;
  /** Only the session's own processes have it. */
  readonly secret: string;
}

/** A run of an object that a session of `drover dev` may reconcile. */
export interface DevelopedRun {
  readonly client: KubeClient;
  readonly ref: ResourceRef;
  /** True if Drover does not write the status of the kind. */
  readonly isForeign: boolean;
  /** The session that the run belongs to; undefined in a deployed function. */
  readonly session: DevSession | undefined;
  readonly now: () => Date;
}

/** When a run of a session looks again for the acknowledgement. The session wakes the key as soon as it sees it. */
const acknowledgedWithin = 60_000;

/**
 * Decides between a deployed function and a session of `drover dev`. Returns the object that the run may reconcile, or
 * the outcome of a run that may not.
 *
 * Guarantees: once an acknowledgement is in the object's status, no run of the deployed function has called the author's
 * code since it was written. For the run that writes it has read the label under the key's lease; every later one reads
 * the object at this version or a newer one; and one that finds no label removes the acknowledgement first, with the
 * version that it has read. So a session that reads its label and its acknowledgement in one version is alone.
 */
export async function reconcilable(
  run: DevelopedRun,
  raw: KubeObject,
): Promise<KubeObject | Extract<RunOutcome, { readonly kind: "paused" | "wait" }>> {
  const session = sessionOf(run.ref, raw.metadata);
  if (run.session !== undefined) {
    const place = placeIn(run.session, raw);
    if (place === "not chosen") return { kind: "paused" };
    return place === "runs" ? raw : { kind: "wait", after: acknowledgedWithin };
  }
  if (run.isForeign) return session === undefined ? raw : { kind: "paused" };
  if (session === undefined) return hasCondition(raw) ? writeConditions(run, raw, othersIn(raw)) : raw;
  if (!acknowledges(raw, session))
    await writeConditions(run, raw, [...othersIn(raw), stated(run, raw, session)]);
  return { kind: "paused" };
}

/** `alone`: no function is deployed for the object. `beside`: one is, and must acknowledge. */
export type SessionMark = "alone" | "beside";

/**
 * The text that proves that the session has chosen the object of this uid. The label alone proves nothing: each user who may
 * change an object can set it, and the object would then run with the rights of the session's user.
 */
export const sessionMark = ({ secret }: DevSession, uid: string, mark: SessionMark): string =>
  createHmac("sha256", secret).update(`${mark} ${uid}`).digest("base64url");

/** `waits`: for the acknowledgement of the deployed function. */
export function placeIn(session: DevSession, raw: KubeObject): "runs" | "waits" | "not chosen" {
  const { labels, annotations, uid } = raw.metadata;
  const mark = annotations?.[sessionMarkAnnotation];
  if (labels?.[sessionLabel] !== session.name) return "not chosen";
  if (mark === sessionMark(session, uid, "alone")) return "runs";
  if (mark !== sessionMark(session, uid, "beside")) return "not chosen";
  return acknowledges(raw, session.name) ? "runs" : "waits";
}

const acknowledges = (raw: KubeObject, session: string): boolean => {
  const { message } = acknowledgement(session);
  return conditionsOf(raw).some(
    (one) => one.type === sessionCondition && one.status === "True" && one.message === message,
  );
};

const hasCondition = (raw: KubeObject): boolean => othersIn(raw).length < conditionsIn(raw).length;

const othersIn = (raw: KubeObject): readonly unknown[] =>
  conditionsIn(raw).filter((one) => !(isFields(one) && one["type"] === sessionCondition));

const stated = ({ now }: DevelopedRun, { metadata }: KubeObject, session: string) => ({
  ...acknowledgement(session),
  observedGeneration: metadata.generation ?? 0,
  lastTransitionTime: timestamp(now()),
});

/** @throws ApiError of kind Conflict if the object has changed since it was read. */
const writeConditions = (
  { client, ref }: DevelopedRun,
  raw: KubeObject,
  conditions: readonly unknown[],
): Promise<KubeObject> =>
  client.replace(ref, { ...raw, status: { ...statusIn(raw), conditions } }, { subresource: "status" });

const statusIn = ({ status }: KubeObject): Readonly<Record<string, unknown>> =>
  isFields(status) ? status : {};

function conditionsIn(raw: KubeObject): readonly unknown[] {
  const { conditions } = statusIn(raw);
  return Array.isArray(conditions) ? conditions : [];
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
