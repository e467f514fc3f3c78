import type { ObjectKey } from "@drover/controller";
import { z } from "zod";
import type { CreateOptions, KubeClient, WriteGuard } from "./client.ts";
import { type ClientParts, unlessAbsent, write } from "./exchange.ts";
import { ownedBy } from "../objects/controller-of.ts";
import { keyOf } from "../objects/kube-object.ts";
import { builtin, type ResourceRef } from "../objects/resource-ref.ts";
import { objectFrom } from "./reply.ts";
import {
  applyRequest,
  bindRequest,
  createRequest,
  deleteRequest,
  patchRequest,
  replaceRequest,
  type RequestShape,
} from "./request-shape.ts";
import { guardOf, performWrite } from "./write-guard.ts";

type ObjectWrites = Pick<KubeClient, "create" | "replace" | "patch" | "apply" | "bind" | "delete">;

/** The writes of a client. With `guard`, each is checked before it is sent, and its outcome is reported. */
export function objectWrites(parts: ClientParts, guard: WriteGuard | undefined): ObjectWrites {
  const fieldManager = guard?.fieldManager ?? parts.fieldManager;
  /** @param reply the kind of the reply, if it is another one. */
  const writeObject = (
    ref: ResourceRef,
    key: ObjectKey,
    shape: RequestShape,
    options: CreateOptions = {},
    reply = ref,
  ) => {
    const checked = options.dryRun === true ? undefined : guard;
    return performWrite(checked, { ref, key, repliesOther: reply !== ref }, async () =>
      objectFrom(
        shape.name,
        reply,
        withVersion(options, await write(parts, guardOf(shape, checked), shape, options)),
      ),
    );
  };
  /** A write that is not answered with the object. */
  const writeWithoutObject = async (
    ref: ResourceRef,
    key: ObjectKey,
    shape: RequestShape,
    options: CreateOptions,
  ) => {
    const checked = options.dryRun === true ? undefined : guard;
    return performWrite(checked, { ref, key }, async (): Promise<undefined> => {
      await write(parts, guardOf(shape, checked), shape, options);
    });
  };
  return {
    create: async (ref, object, options) =>
      writeObject(ref, keyOf(object), createRequest(ref, object, { ...options, fieldManager }), options),
    replace: async (ref, object, options) => {
      const key = keyOf(object);
      return writeObject(ref, key, replaceRequest(ref, key, object, { ...options, fieldManager }), options);
    },
    patch: async (ref, key, patch, options) =>
      writeObject(ref, key, patchRequest(ref, key, patch, { ...options, fieldManager }), options),
    apply: async (ref, object, options = {}) => {
      const key = keyOf(object);
      const kind = options.subresource === "scale" ? builtin.scale : ref;
      const sent = options.owned === true ? ownedBy(guard?.owner, object) : object;
      const shape = applyRequest(ref, key, { kind, object: sent }, { ...options, fieldManager });
      return writeObject(ref, key, shape, options, kind);
    },
    bind: (pod, node, options = {}) =>
      writeWithoutObject(builtin.pod, keyOf({ metadata: pod }), bindRequest(pod, node), options),
    delete: async (ref, key, options = {}) => {
      const shape = deleteRequest(ref, key, options);
      return unlessAbsent(false, () => writeWithoutObject(ref, key, shape, options).then(() => true));
    },
  };
}

/** An object that would be created by a dry run has no version. */
function withVersion({ dryRun }: CreateOptions, reply: unknown): unknown {
  const { success, data } = unstoredSchema.safeParse(reply);
  if (dryRun !== true || !success) return reply;
  return { ...data, metadata: { resourceVersion: "0", ...data.metadata } };
}

const unstoredSchema = z.looseObject({ metadata: z.looseObject({}) });
