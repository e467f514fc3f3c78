import type { LoadBalancer } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { PresentResource } from "drover/external";
import type { LoadBalancerSpec } from "../load-balancer.ts";
import type { BalancedService } from "../service.ts";
import type { TargetsOf } from "../targets.ts";
import type { BalancerCall } from "./balancer-call.ts";

/** A load balancer that exists. */
export interface PresentLoadBalancer extends PresentResource {
  readonly arn: string;
  readonly found: LoadBalancer;
}

/** The Service of a load balancer, and the targets of its ports. */
export interface Balanced {
  readonly service: BalancedService;
  readonly targets: TargetsOf;
}

/** The data from which the settings of one run are built. */
export interface SettingsContext {
  readonly call: BalancerCall;
  readonly spec: LoadBalancerSpec;
  /** The uid of the object: target groups have it in their name and their tags. */
  readonly owner: string;
  /** The record of the status. */
  readonly written: Readonly<Record<string, string>>;
  readonly balanced: Balanced | undefined;
  /** Undefined if there is no load balancer. */
  readonly seen: PresentLoadBalancer | undefined;
}
