import type { ReconcileContext, ReconcileFunction } from "@drover/controller";
import type { NewObject, ResourceRef } from "@drover/kube";

export type FunctionContext = ReconcileContext<typeof ReconcileFunction>;

/** An object that a function needs in addition to its Pods. If not `wanted`, the object is deleted. */
export interface FunctionObject {
  readonly ref: ResourceRef;
  readonly object: NewObject;
  readonly wanted: boolean;
  /**
   * False for Roles of Drover's own parts, or for KEDA, on objects made for this function. Their author gains no
   * permission, so they are not reviewed.
   */
  readonly reviewed?: false;
  /**
   * True if it is in a namespace that the spec names. A failure there does not keep the function from being deployed.
   */
  readonly elsewhere?: true;
}
