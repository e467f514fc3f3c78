import { type Controller, isRelated, messageOf, type Resource, TerminalError } from "@drover/controller";
import {
  maxMessageLength,
  type PlanAnswer,
  planPath,
  type PlanQuestion,
  receivePlanQuestion,
  type SentAnswer,
} from "@drover/webhook";
import { parseObject } from "../schema/parse-object.ts";
import type { ServedRequest } from "../webhook/serve-function.ts";
import {
  answerOrRefusal,
  signedAnswer,
  webhookHandler,
  type WebhookHandlerOptions,
} from "../webhook/webhook-handler.ts";

/**
 * Answers `drover plan` with the controller of a function that pulls: its question about an object, and calls of type
 * compose. Other calls fail, since the controller's own `reconcile` and `finalize` may write.
 */
export function planHandler<R extends Resource>(
  parts: WebhookHandlerOptions<R>,
): (request: ServedRequest) => Promise<SentAnswer> {
  const { controller, audience, secrets, log, now = Date.now } = parts;
  const fail = () => Promise.reject(new TerminalError("A plan only calls compose."));
  const answerCall = webhookHandler({
    ...parts,
    controller: { ...controller, reconcile: fail, finalize: fail },
  });
  return ({ path, ...request }) => {
    if (path !== planPath) return answerCall(request);
    const { headers, body, onVerified } = request;
    return answerOrRefusal(log, () => {
      const question = receivePlanQuestion({ headers, body, secrets: secrets(), audience, now: now() });
      onVerified?.();
      return signedAnswer(answerOf(controller, question), question.token, secrets(), now());
    });
  };
}

function answerOf<R extends Resource>(controller: Controller<R>, { object }: PlanQuestion): PlanAnswer {
  const { name, compose } = controller;
  const answer = { type: "dev.drover.plan.v1", controller: name, composes: compose !== undefined } as const;
  const parsed = parseObject(controller.for, object);
  // The call that follows fails with the problem.
  if (!parsed.ok) return { ...answer, finalizes: false, related: [] };
  try {
    return {
      ...answer,
      finalizes: finalizes(controller, parsed.object),
      related: relatedOf(controller, parsed.object),
    };
  } catch (error) {
    const failure = messageOf(error).slice(0, maxMessageLength);
    return { ...answer, finalizes: false, related: [], failure };
  }
}

type Parsed<R extends Resource> = Parameters<Controller<R>["needsFinalizer"]>[0] &
  Pick<Extract<ReturnType<typeof parseObject<R>>, { ok: true }>["object"], "status">;

const finalizes = <R extends Resource>(controller: Controller<R>, object: Parsed<R>): boolean =>
  controller.finalizer !== undefined &&
  (object.metadata.deletionTimestamp !== undefined || controller.needsFinalizer(object));

const relatedOf = <R extends Resource>(
  { watches }: Controller<R>,
  object: Parsed<R>,
): PlanAnswer["related"] =>
  watches
    .filter(isRelated)
    .flatMap(({ names, kind: { group, plural } }) =>
      typeof names === "function" ? [{ group, plural, names: [...names(object)] }] : [],
    );
