import type { Call } from "@drover/fault-proxy";
import { describeCall } from "@drover/fault-proxy";
import { z } from "zod";
import type { Baseline } from "./baseline.ts";
import { mayBeStale, writeName } from "./plan-decider.ts";
import type { MadeObject, Plan, PlannedWrite } from "./plan.ts";
import type { Scenario } from "./scenario.ts";
import { namedAs, type RoleOf } from "./state.ts";
import type { Take } from "./take.ts";

/** Every plan for what was seen in a fault-free run: one fault each, at each place where it can hurt. */
export function derivePlans(
  scenario: Scenario,
  { take, roleOf }: Pick<Baseline, "take" | "roleOf">,
): readonly Plan[] {
  const writes = take.writes.map((call, index) => planned(call, index, roleOf));
  const steps = scenario.steps.map((_, i) => i + 1);
  return [
    ...writes.flatMap((write): readonly Plan[] => [
      { kind: "crash", when: "before", write },
      { kind: "crash", when: "after", write },
      { kind: "lost answer", write },
      { kind: "refused", status: refusalOf(take.writes[write.number - 1]), write },
    ]),
    ...staleViews(take, writes),
    ...steps.slice(0, -1).map((step): Plan => ({ kind: "unobserved", step })),
    ...scenario.steps.flatMap((step, i): readonly Plan[] =>
      "delete" in step ? [{ kind: "made anew", step: i + 1 }] : [],
    ),
    ...steps.map((step): Plan => ({ kind: "looked at again", step })),
    ...madeObjects(take).flatMap(({ made, lastStep, hasLabels }): readonly Plan[] => [
      ...(lastStep > 0 ? [{ kind: "taken away", step: lastStep, made } as const] : []),
      { kind: "stranger", by: "name", made },
      ...(hasLabels ? [{ kind: "stranger", by: "labels", made } as const] : []),
    ]),
  ];
}

function planned(call: Call, index: number, roleOf: RoleOf): PlannedWrite {
  const { resource, namespace } = call;
  const words =
    call.verb === "create" && call.subresource === ""
      ? `create ${roleOf({ resource, namespace, name: createdName(call) })}`
      : describeCall(call);
  return { number: index + 1, what: writeName(call), words };
}

const bodySchema = z.object({ metadata: z.object({ name: z.string() }) });
const createdName = ({ body }: Call): string => bodySchema.safeParse(body).data?.metadata.name ?? "";

function refusalOf(call: Call | undefined): 409 | 500 | 503 {
  if (call === undefined || call.resource === "") return 503;
  return call.verb === "update" || call.verb === "patch" ? 409 : 500;
}

/** For each run that wrote after having read what a cache may answer: as of before the last run of its key, and the step. */
function staleViews(take: Take, writes: readonly PlannedWrite[]): readonly Plan[] {
  return take.runs.flatMap(({ number, key, controller, calls }): readonly Plan[] => {
    const first = calls.find(({ call }) => call.isWrite);
    const write = first && writes[take.writes.indexOf(first.call)];
    if (write === undefined || !calls.some(({ call }) => mayBeStale(call))) return [];
    const step = take.steps.findIndex(({ runs }) => runs >= number);
    const earlier = take.runs.findLast(
      (run) => run.number < number && run.key === key && run.controller === controller,
    );
    return [
      ...(step > 0 ? [{ kind: "stale view", run: number, before: { step }, write } as const] : []),
      ...(earlier
        ? [{ kind: "stale view", run: number, before: { run: earlier.number }, write } as const]
        : []),
    ];
  });
}

interface Made {
  readonly made: MadeObject;
  /** After which it was still there; 0 where it was there after none. */
  readonly lastStep: number;
  readonly hasLabels: boolean;
}

/** The objects that the function created and that were there when somebody looked. */
function madeObjects({ calls, steps }: Take): readonly Made[] {
  const byUid = new Map(
    calls.flatMap(({ call, server, committed }) => {
      const isCreated = call.verb === "create" || server?.status === 201;
      const object = server?.object;
      return isCreated && committed === true && object !== undefined ? [[object.uid, call] as const] : [];
    }),
  );
  const found = [...byUid.keys()].flatMap((uid): readonly Made[] => {
    const there = steps.map(({ snapshot }) =>
      snapshot?.objects.find(({ object }) => object.metadata.uid === uid),
    );
    const lastStep = there.findLastIndex((one) => one !== undefined);
    const one = there[lastStep];
    if (one === undefined) return [];
    const { apiVersion, kind, metadata } = one.object;
    const hasLabels = Object.keys(metadata.labels ?? {}).length > 0;
    return [{ made: { ...namedAs(one), apiVersion, kind }, lastStep, hasLabels }];
  });
  // The latest one of a name: an earlier one was replaced by it.
  return [...new Map(found.map((one) => [JSON.stringify(one.made), one])).values()];
}
