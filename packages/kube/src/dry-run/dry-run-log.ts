import type { ObjectKey } from "@drover/controller";
import { z } from "zod";
import type { ApiError } from "../errors.ts";
import { keyOf, type KubeObject } from "../objects/kube-object.ts";
import { resourceNameOf, type ResourceRef } from "../objects/resource-ref.ts";

/** A write that was sent as a dry run, and what the API server answered. */
export interface DryRunWrite {
  readonly verb: "create" | "replace" | "patch" | "apply" | "delete";
  readonly ref: ResourceRef;
  readonly key: ObjectKey;
  readonly subresource: "status" | "scale" | undefined;
  /** The object as it is; undefined if it does not exist. */
  readonly before: KubeObject | undefined;
  /** The object as it would be; undefined if it would be deleted, and after a refusal. */
  readonly after: KubeObject | undefined;
  readonly refusal?: ApiError;
}

/** The object of the run that is tried. The run sees its own changes of it. */
export interface DryRunSubject {
  readonly ref: ResourceRef;
  /** As the run reads it. */
  readonly object: KubeObject;
  /** True if the API server has it like this. Otherwise the run's changes of it are not sent. */
  readonly isStored: boolean;
}

/** A dry run cannot continue: the rest depends on a change that was not made. */
export class DryRunEndError extends Error {
  override readonly name = "DryRunEndError";
}

/** The writes of a dry run so far, and what they would have changed. */
export interface DryRunLog {
  readonly writes: readonly DryRunWrite[];
  /** The object of the run with the run's changes, if it is meant. */
  own(ref: ResourceRef, key: ObjectKey): KubeObject | undefined;
  record(write: DryRunWrite): void;
  /** @throws DryRunEndError if the run would have changed the object, or has ended. */
  beforeRead(ref: ResourceRef, key: ObjectKey): void;
  /** @throws DryRunEndError if the run would have changed an object of the list, or has ended. */
  beforeList(ref: ResourceRef, namespace: string | undefined): void;
  /** @throws DryRunEndError if the run would have created or deleted the object, or has ended. */
  beforeWrite(ref: ResourceRef, key: ObjectKey): void;
  /** Ends the dry run. */
  readonly stop: (why: string) => never;
  readonly end: () => string | undefined;
}

export function openDryRunLog(subject: DryRunSubject): DryRunLog {
  const writes: DryRunWrite[] = [];
  const changed = new Map<string, DryRunWrite>();
  let { object: own } = subject;
  let end: string | undefined;

  const idOf = (ref: ResourceRef, key: ObjectKey): string => `${resourceNameOf(ref)} ${key}`;
  const subjectId = idOf(subject.ref, keyOf(subject.object));
  const stop = (why: string): never => {
    end ??= why;
    throw new DryRunEndError(end);
  };
  const refuse = (verb: string, write: DryRunWrite | undefined): void => {
    if (end !== undefined) stop(end);
    if (write !== undefined)
      stop(`The run ${verb} ${write.ref.kind} ${write.key}, which it would have ${pastOf(write)} before.`);
  };
  return {
    writes,
    own: (ref, key) => (idOf(ref, key) === subjectId ? own : undefined),
    record(write) {
      const id = idOf(write.ref, write.key);
      if (id !== subjectId) {
        writes.push(write);
        if (write.refusal === undefined) changed.set(id, write);
        return;
      }
      const after = write.after && withUnwritten(own, write.after, write.subresource);
      writes.push({ ...write, after });
      own = after ?? own;
    },
    beforeRead: (ref, key) => refuse("reads", changed.get(idOf(ref, key))),
    beforeList: (ref, namespace) =>
      refuse(
        "lists",
        [...changed.values()].find(
          ({ ref: of, key }) =>
            resourceNameOf(of) === resourceNameOf(ref) &&
            (namespace === undefined || key.startsWith(`${namespace}/`)),
        ),
      ),
    beforeWrite(ref, key) {
      const write = changed.get(idOf(ref, key));
      refuse("writes", write?.before === undefined || write.after === undefined ? write : undefined);
    },
    stop,
    end: () => end,
  };
}

/** A write of the status leaves the rest as it was, and the other way round. */
const withUnwritten = (
  own: KubeObject,
  after: KubeObject,
  subresource: DryRunWrite["subresource"],
): KubeObject =>
  subresource === "status" ? { ...own, status: after["status"] } : { ...after, status: own["status"] };

const pastOf = ({ before, after }: DryRunWrite): string =>
  before === undefined ? "created" : after === undefined ? "deleted" : "changed";

const scaleSchema = z.looseObject({ spec: z.looseObject({ replicas: z.number().exactOptional() }) });

/** The object after a write: the answer, or with the replicas of the Scale that was answered. */
export function objectAfter(
  answer: KubeObject,
  { before, subresource }: Pick<DryRunWrite, "before" | "subresource">,
): KubeObject {
  if (subresource !== "scale" || before === undefined) return answer;
  const spec = z.looseObject({}).catch({}).parse(before["spec"]);
  return { ...before, spec: { ...spec, ...scaleSchema.parse(answer).spec } };
}
