import { parseJson } from "@drover/json";
import { cachedObjectText, isWellFormed, type KubeObject } from "@drover/kube";
import { mappingResultsOf, type Subscription } from "@drover/bridge";
import { parseFieldPath } from "@drover/controller";
import { type Attack, outcomeOf } from "../attack.ts";

/** As deep as an API server accepts. */
const levels = 9_900;

const textWith = (innermost: string): string =>
  `{"apiVersion":"example.com/v1","kind":"Cup","metadata":{"name":"a","uid":"u","resourceVersion":"1"},` +
  `"spec":{"any":${"[".repeat(levels)}${innermost}${"]".repeat(levels)}}}`;

const subscription: Subscription = {
  id: "cups",
  for: { group: "example.com", version: "v1", kind: "Cup", plural: "cups", namespaced: true },
  map: { by: "self" },
  changed: [parseFieldPath("spec.any")],
  copies: true,
};

export const attack: Attack = {
  name: "an object that is nested as deep as an API server accepts does not break the stream of its kind",
  kind: "shared fate",
  needs: [],
  run() {
    const broken: string[] = [];
    for (const innermost of ["", "9007199254740993"]) {
      try {
        const object = parseJson(textWith(innermost));
        if (!isWellFormed(object)) throw new Error("it is no object");
        use(object);
      } catch (error) {
        broken.push(`with ${innermost === "" ? "nothing" : innermost} inside: ${String(error)}`);
      }
    }
    return Promise.resolve(outcomeOf(broken, `${levels} levels are read, compared and not copied`));
  },
};

/** The steps of a bridge for each object of a kind with cached objects. */
function use(object: KubeObject): void {
  mappingResultsOf(object, [subscription]);
  cachedObjectText(object);
}
