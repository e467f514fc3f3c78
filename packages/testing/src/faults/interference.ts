import { answeredObject, type Call } from "@drover/fault-proxy";
import type { ApiAddress } from "../api-address.ts";
import { plainRequest } from "../plain-request.ts";
import type { Divergence } from "./compare.ts";
import type { Take } from "./take.ts";

/** Carried by an object that somebody else has changed at the wrong moment. */
export const markOfSomebody = "testing.drover.dev/somebody";

/**
 * Somebody else changes the object that a call is about, past every fault.
 *
 * @returns its uid; undefined when there is no such object.
 */
export async function interfere(
  server: ApiAddress,
  { path, subresource }: Call,
): Promise<string | undefined> {
  const object = subresource === "" ? path : path.slice(0, -subresource.length - 1);
  const metadata = { annotations: { [markOfSomebody]: "was here" } };
  const { text } = await plainRequest(server, { method: "PATCH", path: object, body: { metadata } });
  return answeredObject(text)?.uid;
}

/** The first step after which what somebody wrote was lost, though the object is there. */
export function lostUpdate({ touched, steps }: Take): Divergence | undefined {
  for (const [step, { snapshot }] of steps.entries()) {
    if (touched === undefined || step < touched.step) continue;
    const now = snapshot?.objects.find(({ object }) => object.metadata.uid === touched.uid)?.object;
    if (now === undefined || now.metadata.annotations?.[markOfSomebody] !== undefined) continue;
    const { kind, metadata } = now;
    return {
      step,
      differences: [`what somebody else wrote into ${kind} ${metadata.name} meanwhile was lost`],
    };
  }
  return undefined;
}
