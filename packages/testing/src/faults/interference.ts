import { parseResponseObject, type ProxiedCall } from "../fault-proxy/index.ts";
import type { ApiAddress } from "../kubectl/api-address.ts";
import { plainRequest } from "../kubectl/plain-request.ts";
import type { Divergence } from "./divergence.ts";
import type { ScenarioRun } from "./scenario-run.ts";

/** Marks an object that another client has changed just before a write of the function. */
export const interferenceAnnotation = "testing.drover.dev/another-client";

/**
 * Changes the object that a call is about, as another client, without faults.
 *
 * @returns its uid; undefined if the object does not exist.
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

/** The first step after which the other client's change is lost, although the object exists. */
export function lostUpdate({ touched, steps }: ScenarioRun): Divergence | undefined {
  for (const [step, { snapshot }] of steps.entries()) {
    if (touched === undefined || step < touched.step) continue;
    const now = snapshot?.objects.find(({ object }) => object.metadata.uid === touched.uid)?.object;
    if (now === undefined || now.metadata.annotations?.[interferenceAnnotation] !== undefined) continue;
    const { kind, metadata } = now;
    return {
      step,
      differences: [`the change that another client made to ${kind} ${metadata.name} was lost`],
    };
  }
  return undefined;
}
