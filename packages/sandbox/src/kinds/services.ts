// Services: each gets an address of this machine's loopback, for the processes behind it run on this machine.
import { invalid, when } from "../admission/field-errors.ts";
import { field, objectAt, textAt } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { withTop } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import type { Behaviour } from "./resource-type.ts";
import {
  alwaysPresent,
  anyObject,
  fields,
  openObject,
  listOf,
  withDefault,
  string,
} from "../schema/schema-builders.ts";

export const serviceSchema: JsonObject = fields({
  spec: alwaysPresent(
    openObject({ type: withDefault(string, "ClusterIP"), ports: listOf(anyObject), clusterIP: string }),
  ),
  status: withDefault(anyObject, { loadBalancer: {} }),
});

/** The number of addresses for Services in 127.1.0.0/16. */
const room = 65_534;
const address = (n: number): string => `127.1.${n >> 8}.${n & 255}`;
const addressOf = (service: KubeObject): string => textAt(service, "spec", "clusterIP") ?? "";
const at = (service: KubeObject, clusterIP: string): KubeObject =>
  withTop(service, "spec", { ...objectAt(service, "spec"), clusterIP, clusterIPs: [clusterIP] });

/** The first address after the `turn`th that no other Service has. As a turn grows, an address is not reused soon. */
function free(others: readonly KubeObject[], turn: number): string | undefined {
  const taken = new Set(others.map(addressOf));
  for (let n = 0; n < room; n += 1) {
    const one = address(((turn + n) % room) + 1);
    if (!taken.has(one)) return one;
  }
  return undefined;
}

/** A Service that asks for no address gets one, unless it is of type ExternalName, and keeps it. */
export const serviceBehaviour: Behaviour = {
  allotted(service, others, turn) {
    if (textAt(service, "spec", "type") === "ExternalName") return service;
    const one = addressOf(service) || free(others, turn);
    return one === undefined ? service : at(service, one);
  },
  admitted: (service, old) => {
    const one = addressOf(service) || (old ? addressOf(old) : "");
    const isWithout = addressOf(service) === "" || field(service, "spec", "clusterIPs") === undefined;
    return one !== "" && isWithout ? at(service, one) : service;
  },
  errors: (service, old) =>
    when(
      old !== undefined && addressOf(old) !== "" && addressOf(old) !== addressOf(service),
      invalid("spec.clusterIPs[0]", [addressOf(service)], "may not change once set"),
    ),
};
