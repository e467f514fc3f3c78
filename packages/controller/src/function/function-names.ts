/**
 * The name of the Service in front of a function's own Pods: a DNS label that begins with a letter (RFC 1035). A
 * controller's name may have dots or begin with a digit.
 */
export function serviceNameOf(controller: string): string {
  const label = controller.replaceAll(".", "-");
  return /^[a-z]/.test(label) ? label : `f-${label.slice(0, 61)}`;
}

/** The Secret that a called function shares with the gateway: keys `current` and, during a change, `previous`. */
export const webhookSecretOf = (controller: string): string => `${controller}-webhook`;
