import type { Campaign, ReconcileFunctionSpec } from "@drover/controller";
import { type Follower, followsOf } from "@drover/streams";
import { type Hook, hooksOf } from "./hooks/hook.ts";

/** A controller that the bridge wakes keys for. */
export interface Registration extends Follower {
  readonly campaign?: Campaign | undefined;
  readonly hooks: readonly Hook[];
}

/**
 * @param home the function's namespace; a file has none.
 * @throws InvalidRegistrationError naming the field.
 */
export function registrationOf(
  controller: string,
  uid: string,
  spec: ReconcileFunctionSpec,
  home?: string,
): Registration {
  const hooks = hooksOf(spec, { controller, uid, home });
  const held = hooks.flatMap(({ heldBy }) => (heldBy === undefined ? [] : [heldBy]));
  return {
    controller,
    uid,
    ...(spec.campaign && { campaign: spec.campaign }),
    follows: followsOf(controller, spec, held),
    hooks,
  };
}
