import { defineController, type ReconcileResult } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import type { FunctionUnderTest, Scenario } from "@drover/testing";
import { App, ownsConfigMaps } from "./app.ts";
import { type AppContext, type Children, childrenOf } from "./children.ts";
import { thingsAt } from "./things-server.ts";

/** Two scenarios that share everything but one mistake. */
export interface Twins {
  readonly broken: Scenario;
  readonly right: Scenario;
}

type Reconcile = (context: AppContext, children: Children) => Promise<ReconcileResult<typeof App>>;

/** A controller of Apps; it owns ConfigMaps, unless it lists other kinds. */
interface Parts {
  readonly owns?: readonly [];
  readonly reconcile: Reconcile;
  readonly finalize: (context: AppContext, children: Children) => Promise<void>;
}

interface World {
  readonly client: KubeClient;
  readonly things: ReturnType<typeof thingsAt>;
}

/** @param bug makes the controller for one process, with the mistake or without it. */
export function twins(
  scenario: Omit<Scenario, "start">,
  bug: (isRight: boolean, world: World) => Reconcile | Parts,
): Twins {
  const start =
    (isRight: boolean): FunctionUnderTest =>
    ({ client, outside }) => {
      const made = bug(isRight, { client, things: thingsAt(outside["things"]) });
      const { owns = ownsConfigMaps, reconcile, ...rest } = "reconcile" in made ? made : { reconcile: made };
      const { finalize } = { finalize: undefined, ...rest };
      return defineController({
        for: App,
        owns,
        reconcile: (context) => reconcile(context, childrenOf(client, context)),
        ...(finalize && {
          finalize: (context: AppContext) => finalize(context, childrenOf(client, context)),
        }),
      });
    };
  return {
    broken: { ...scenario, start: start(false) },
    right: { ...scenario, name: `${scenario.name}, mended`, start: start(true) },
  };
}
