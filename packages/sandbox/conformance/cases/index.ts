import type { Case } from "../steps.ts";
import { applyCases } from "./apply.ts";
import { bodiesCases } from "./bodies.ts";
import { customValues } from "./custom-values.ts";
import { definitionChanges } from "./definition-changes.ts";
import { definitionEnds } from "./definition-ends.ts";
import { refusals } from "./definition-refusals.ts";
import { deletion } from "./deletion.ts";
import { formats } from "./formats.ts";
import { kinds } from "./kinds.ts";
import { lists } from "./lists.ts";
import { metadata } from "./metadata.ts";
import { namespaces } from "./namespaces.ts";
import { patches } from "./patches.ts";
import { paths } from "./paths.ts";
import { patternCases } from "./patterns.ts";
import { podsAndServices } from "./pods-and-services.ts";
import { policies } from "./policies.ts";
import { rootSchemas } from "./root-schemas.ts";
import { ruleRefusals } from "./rule-refusals.ts";
import { rulesCases } from "./rules.ts";
import { schemaRefusals } from "./schema-refusals.ts";
import { watches } from "./watches.ts";

const themes: Readonly<Record<string, readonly Case[]>> = {
  apply: applyCases,
  bodies: bodiesCases,
  "custom values": customValues,
  definitions: [...refusals, ...definitionChanges, ...definitionEnds],
  deletion,
  formats,
  kinds,
  lists,
  metadata,
  namespaces,
  patches,
  paths,
  patterns: patternCases,
  "pods and services": podsAndServices,
  policies,
  "root schemas": [...rootSchemas, ...schemaRefusals],
  rules: [...rulesCases, ...ruleRefusals],
  watches,
};

/** All cases; the name of a case begins with its theme. */
export const allCases: readonly Case[] = Object.entries(themes).flatMap(([theme, cases]) =>
  cases.map((one) => ({ ...one, name: `${theme}: ${one.name}` })),
);
