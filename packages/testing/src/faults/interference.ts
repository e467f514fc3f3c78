import { parseResponseObject, type ProxiedCall } from "../fault-proxy/index.ts";
import type { ApiAddress } from "../kubectl/api-address.ts";
import { plainRequest } from "../kubectl/plain-request.ts";
import type { Divergence } from "./divergence.ts";
import type { ScenarioRun } from "./scenario-run.ts";

/** Carried by an object that somebody else has changed at the wrong moment. */
export const interferenceAnnotation = "testing.drover.dev/somebody";

/**
 * Somebody else changes the object that a call is about, past every fault.
 *
 * @returns its uid; undefined when there is no such object.
 */
export async function interfere(
  server: ApiAddress,
  { path, subresource }: ProxiedCall,
): Promise<string | undefined> {
  const object = subresource === "" ? path : path.slice(0, -subresource.length - 1);
  const metadata = { annotations: { [interferenceAnnotation]: "was here" } };
  const { text } = await plainRequest(server, { method: "PATCH", path: object, body: { metadata } });
  return parseResponseObject(text)?.uid;
}

/** The first step after which what somebody wrote was lost, though the object is there. */
export function lostUpdate({ touched, steps }: ScenarioRun): Divergence | undefined {
  for (const [step, { snapshot }] of steps.entries()) {
    if (touched === undefined || step < touched.step) continue;
    const now = snapshot?.objects.find(({ object }) => object.metadata.uid === touched.uid)?.object;
    if (now === undefined || now.metadata.annotations?.[interferenceAnnotation] !== undefined) continue;
    const { kind, metadata } = now;
    return {
      step,
      differences: [`what somebody else wrote into ${kind} ${metadata.name} meanwhile was lost`],
    };
  }
  return undefined;
}
