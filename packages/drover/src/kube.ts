/** Objects in the cluster. */
export {
  builtin,
  type ChildOf,
  isApiError,
  kindOf,
  type KubeClient,
  type KubeObject,
  type NewObject,
  refOf,
  type ResourceRef,
} from "@drover/kube";
