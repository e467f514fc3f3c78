import { createHash } from "node:crypto";

const maxLength = 32;

/**
 * The reason why AWS would refuse a name, as a sentence. Undefined for a valid name. The rules are those of
 * https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_CreateLoadBalancer.html
 */
export function loadBalancerNameProblem(name: string): string | undefined {
  if (name.length < 1 || name.length > maxLength) {
    return `The name of a load balancer has 1 to ${maxLength} characters; this one has ${name.length}.`;
  }
  if (!/^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$/.test(name)) {
    return "The name of a load balancer has letters, digits and hyphens, and begins and ends with a letter or digit.";
  }
  return name.startsWith("internal-") ? 'AWS keeps names that begin with "internal-" for itself.' : undefined;
}

/** The name in the spec, or `<namespace>-<name>`, which is shortened if it is too long. */
export function loadBalancerNameOf(
  spec: { readonly loadBalancerName?: string | undefined },
  { namespace = "", name }: { readonly namespace?: string; readonly name: string },
): string {
  const whole = `${namespace}-${name}`;
  return spec.loadBalancerName ?? (whole.length <= maxLength ? whole : shortened(whole));
}

/** The beginning, and a hash of the whole: two long names never become the same. */
const shortened = (whole: string): string => `${whole.slice(0, maxLength - 11)}-${hexOf(whole).slice(0, 10)}`;

const hexOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The name of a target group: the same for the same owner and id, so that a run finds what an earlier one created. */
export const targetGroupName = (ownerUid: string, id: string): string =>
  `drover-${hexOf(`${ownerUid}/${id}`).slice(0, maxLength - 7)}`;
