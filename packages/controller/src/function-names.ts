/**
 * The Service in front of a function's own Pods: a DNS label that begins with a letter (RFC 1035), which the names of
 * controllers, with their dots, need not be.
 */
export function serviceNameOf(controller: string): string {
  const label = controller.replaceAll(".", "-");
  return /^[a-z]/.test(label) ? label : `f-${label.slice(0, 61)}`;
}

/** The Secret that a function which is called shares with its gateway: keys `current` and, at times, `previous`. */
export const webhookSecretOf = (controller: string): string => `${controller}-webhook`;
