import { askForPlan, type CalledFunction, openCalledFunction, type WebhookFunction } from "@drover/calls";
import { type Milliseconds, oneLine, type RelatedKind, RetryError, TerminalError } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import type { PlanAnswer } from "@drover/webhook";
import { CommandError } from "../command-error.ts";
import { shortDuration } from "../short-duration.ts";

const elsewhere = "Run drover plan where its code is, without --image.";
/** The message for an image that does not answer plans. */
export const tooOld =
  "The image has no runtime of Drover that answers plans: it is older, or runFunction does not start it. Build the image with " +
  "the present one, or run drover plan where its code is, without --image.";
const longestMessage = 1_000;

/**
 * A function that pulls, in a run of one object: its Pod is asked for what its ReconcileFunction does not declare, and
 * then called as one that declares children.
 *
 * @throws CommandError if it cannot be planned in a Pod.
 */
export async function openPulledFunction(
  parts: Parameters<typeof openCalledFunction>[0],
  { object, timeout }: { readonly object: KubeObject; readonly timeout: Milliseconds },
): Promise<CalledFunction> {
  const { calling } = parts;
  const signal = AbortSignal.timeout(timeout);
  const answer = await askForPlan(calling, object, { timeout, signal }).catch((error: unknown) => {
    if (signal.aborted) throw new CommandError(`The Pod has not answered within ${shortDuration(timeout)}.`);
    throw unanswered(error);
  });
  const { controller: name, failure } = answer;
  if (!answer.composes)
    throw new CommandError(
      `The controller ${oneLine(name)} in the image declares no children (composeController): it reads and writes by ` +
        `itself, and the Pod of a plan cannot. ${elsewhere}`,
    );
  if (name !== calling.fn.controller)
    throw new CommandError(
      `The ReconcileFunction has the name ${calling.fn.controller}, and the controller in the image ${oneLine(name)}: its ` +
        `objects would get other labels than in a run. ${elsewhere}`,
    );
  const { finalizes } = answer;
  const fn = { ...calling.fn, finalizes, related: calling.fn.related.map((one) => named(one, answer)) };
  const opened = openCalledFunction({ ...parts, calling: { ...calling, fn } });
  if (failure === undefined) return opened;
  const problem = `The function failed: ${oneLine(failure).slice(0, longestMessage)}`;
  const reconcile = () => Promise.reject(new RetryError(problem));
  return { ...opened, controllerFor: (run) => ({ ...opened.controllerFor(run), reconcile }) };
}

/** A related kind: if its names are left to the code, those that this has answered. */
function named(related: WebhookFunction["related"][number], { related: answered }: PlanAnswer): RelatedKind {
  const { names, kind } = related;
  if (typeof names === "function" || !("code" in names)) return related;
  const own = answered.filter(({ group, plural }) => group === kind.group && plural === kind.plural);
  return { ...related, names: () => own.flatMap((one) => one.names) };
}

function unanswered(error: unknown): unknown {
  if (!(error instanceof RetryError || error instanceof TerminalError)) return error;
  return new CommandError(`${oneLine(error.message)}${error.reason === "Unsigned" ? ` ${tooOld}` : ""}`);
}
