// The complete list of checks of a real API server that the sandbox lacks. The documents link to it. Comparisons of the
// two count a refusal for one of these reasons as not checked, never as equal. Test these on a real one:
// tools/real-cluster (npm run test:real).
import { field, listAt, textAt } from "../src/json.ts";
import type { Json } from "../src/json.ts";
import { parts } from "../src/schema/openapi-schema.ts";
import { uncheckedFormats } from "../src/schema/string-formats.ts";

export interface NotChecked {
  readonly what: string;
  /** The behaviour of the sandbox instead. */
  readonly instead: string;
  /**
   * True if this is the reason of one cause of a refusal by a real server, of an object of this kind or of the
   * definition.
   */
  readonly isCause?: (cause: Json, definition: Json) => boolean;
}

/** The rules anywhere in a schema. */
const rulesIn = (schema: Json): readonly Json[] => [
  ...listAt(schema, "x-kubernetes-validations"),
  ...parts(schema, "").flatMap(([, part]) => rulesIn(part)),
];

/** True if the cause is of the rule: with its own message, or with that of the server if it has none or fails. */
function isOfRule(cause: Json, rule: Json): boolean {
  const detail = (textAt(cause, "message") ?? "").trim();
  const message = (textAt(rule, "message") ?? "").trim();
  const text = (textAt(rule, "rule") ?? "").trim();
  if (message !== "" && detail.endsWith(message)) return true;
  return text !== "" && (detail.includes(text) || textAt(rule, "messageExpression") !== undefined);
}

const rulesOf = (definition: Json): readonly Json[] =>
  listAt(definition, "spec", "versions").flatMap((version) =>
    rulesIn(field(version, "schema", "openAPIV3Schema") ?? {}),
  );
const isRuleField = (cause: Json): boolean =>
  /x-kubernetes-validations|openAPIV3Schema$/.test(textAt(cause, "field") ?? "") &&
  /compilation failed|undeclared reference|estimated rule cost|estimated messageExpression cost|rule cost total|oldSelf/.test(
    textAt(cause, "message") ?? "",
  );
const asRule = ["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"];

export const notChecked: readonly NotChecked[] = [
  {
    what: "Rules (CEL) of definitions, x-kubernetes-validations",
    instead:
      "takes what only a rule forbids; reports, as a real one does, when errors keep rules from being evaluated",
    isCause: (cause, definition) =>
      asRule.includes(textAt(cause, "reason") ?? "") &&
      rulesOf(definition).some((rule) => isOfRule(cause, rule)),
  },
  {
    what: "Whether rules compile, what they cost, and where their fieldPath leads",
    instead: "takes a definition with any rules that are texts",
    isCause: (cause) => isRuleField(cause),
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
