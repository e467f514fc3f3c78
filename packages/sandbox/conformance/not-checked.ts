// The complete list of checks of a real API server that the sandbox lacks. The documents link to it. Comparisons of the
// two count a refusal for one of these reasons as not checked, never as equal. Test these on a real one:
// tools/real-cluster (npm run test:real).
import { textAt } from "../src/json.ts";
import type { Json } from "../src/json.ts";
import { uncheckedFormats } from "../src/schema/string-formats.ts";

export interface NotChecked {
  readonly what: string;
  /** The behaviour of the sandbox instead. */
  readonly instead: string;
  /**
   * True if this is the reason of one cause of a refusal by a real server, of an object or of its definition.
   */
  readonly isCause?: (cause: Json) => boolean;
}

const hasText =
  (pattern: RegExp) =>
  (cause: Json): boolean =>
    pattern.test(textAt(cause, "message") ?? "");
/** The reason of an answer 501 of the sandbox to an object whose definition has such a rule. */
export const missingFunction: NotChecked = {
  what: "Rules (CEL) with a function that the sandbox lacks: missingFunctions in src/rules/functions.ts",
  instead: "answers 501 to the write of an object that needs the rule",
};

export const notChecked: readonly NotChecked[] = [
  missingFunction,
  {
    what: "What rules (CEL) cost",
    instead: "takes a definition with rules that cost more than a server allows",
    isCause: hasText(/estimated (rule|messageExpression) cost|rule cost total/),
  },
  {
    what: "The types in rules (CEL)",
    instead: "takes the definition, and refuses the writes for which the wrong part of a rule fails",
    isCause: hasText(/compilation failed: (?!.*Syntax error)|must evaluate to a (bool|string)/s),
  },
  {
    what: "Scales",
    instead: "answers 501",
  },
  {
    what: "The owners of fields of lists and maps that a new schema merges in another way",
    instead: "keeps managedFields as they are",
  },
  {
    what: "Conversion of custom resources by webhooks",
    instead: "refuses a definition that asks for it",
  },
  {
    what: "Rare formats of texts: string-formats.ts has their names",
    instead: "takes any text",
    isCause: (cause) =>
      uncheckedFormats.some((format) =>
        (textAt(cause, "message") ?? "").replaceAll("-", "").includes(`must be of type ${format}`),
      ),
  },
  {
    what: "Types and metadata of embedded objects (x-kubernetes-embedded-resource)",
    instead: "takes any",
  },
  {
    what: "Values at the paths of a scale, and the fields that a definition makes selectable",
    instead: "takes any",
  },
  {
    what: "The approval of definitions in the groups of Kubernetes",
    instead: "needs none",
  },
  {
    what: "Fields that a body has twice",
    instead: "reads the last one",
  },
  {
    what: "Built-in kinds but ConfigMaps and Secrets: their fields, and most of their defaults",
    instead:
      "stores what comes, with a few defaults, and keeps what an update may not change: built-in-types.ts",
  },
  {
    what: "Admission: webhooks, policies (ValidatingAdmissionPolicy), quotas, limits, PodSecurity",
    instead: "admits all",
  },
  {
    what: "Authorization",
    instead: "allows everything to clients with the token",
  },
  {
    what: "The flag orphanDependents of a deletion, which propagationPolicy replaced",
    instead: "ignores it",
  },
];
