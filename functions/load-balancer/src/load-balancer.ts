import { credentialsSpec, regionSpec, tagsSpec } from "drover/aws";
import { checkedAtRun, defineResource, type ReconcileContext } from "drover";
import { externalSpec, externalStatus } from "drover/external";
import { z } from "zod";
import { loadBalancerNameProblem } from "./load-balancer-name.ts";

/** The setting with the roles that objects may name without keys of their own. */
export const rolesVariable = "DROVER_ELB_ROLES";

const loadBalancerName = z
  .string()
  .min(1)
  .max(32)
  .refine((name) => loadBalancerNameProblem(name) === undefined, {
    error: (issue) => loadBalancerNameProblem(String(issue.input)) ?? "Not a name of a load balancer.",
    ...checkedAtRun,
  });

/** `healthCheckSpec.parse({})` is the health check of a spec that has none. */
export const healthCheckSpec = z.object({
  protocol: z.enum(["TCP", "HTTP", "HTTPS"]).default("TCP"),
  port: z.int().min(1).max(65_535).optional().describe("Default: the port that gets the connections."),
  path: z.string().min(1).max(1024).regex(/^\//, "A path begins with /.").optional(),
  intervalSeconds: z.int().min(5).max(300).default(30),
  timeoutSeconds: z.int().min(2).max(120).default(10),
  healthyThreshold: z.int().min(2).max(10).default(5),
  unhealthyThreshold: z.int().min(2).max(10).default(2),
});

const accessLogs = z.object({
  bucket: z.string().min(3).max(63),
  prefix: z.string().max(255).default(""),
});
export type AccessLogs = z.output<typeof accessLogs>;

const spec = z.object({
  loadBalancerName: loadBalancerName
    .optional()
    .describe(
      "The load balancer's name. Default: <namespace>-<name>, shortened to 32 characters. It cannot be changed once the load balancer exists.",
    ),
  region: regionSpec("load balancer"),
  scheme: z
    .enum(["internal", "internet-facing"])
    .default("internal")
    .describe("It cannot be changed once the load balancer exists."),
  subnets: z
    .array(z.string().regex(/^subnet-\w+$/, "A subnet is written like subnet-0123."))
    .min(1)
    .max(20)
    .describe("One subnet of each zone that the load balancer serves."),
  securityGroups: z
    .array(z.string().regex(/^sg-\w+$/, "A security group is written like sg-0123."))
    .min(1)
    .max(20)
    .optional()
    .describe("AWS accepts them only if the load balancer was created with security groups."),
  ipAddressType: z.enum(["ipv4", "dualstack"]).optional(),
  targetType: z
    .enum(["instance", "ip"])
    .default("instance")
    .describe(
      "instance: connections go to the Service's node ports on all nodes. ip: to its ready Pods, whose addresses must be those of the VPC.",
    ),
  healthCheck: healthCheckSpec
    .optional()
    .describe(
      "How targets are checked. Default: a TCP connection; with targetType instance and externalTrafficPolicy Local, the Service's health check node port.",
    ),
  crossZone: z.boolean().optional().describe("Whether each zone sends to the targets of all zones."),
  deletionProtection: z.boolean().optional(),
  accessLogs: accessLogs.optional().describe("The S3 bucket that gets the access logs."),
  tags: tagsSpec("load balancer"),
  ...externalSpec("load balancer", "LoadBalancer", "Delete"),
  ...credentialsSpec(rolesVariable),
});

const details = z.object({
  loadBalancerName: z.string().optional(),
  arn: z.string().optional(),
  dnsName: z.string().optional(),
  region: z.string().optional(),
});
const status = details.extend(externalStatus("load balancer"));

/** The fields of the status that only load balancers have. */
export type LoadBalancerDetails = z.output<typeof details>;

/**
 * A network load balancer of AWS for the Service of the same name.
 *
 * It is an object of its own, and no annotation of the Service, so that the right to create Services does not include the
 * right to spend money and to open a network, and so that the record of what was created is in a status, which the
 * Service's author cannot write. It has the name of its Service, so no two objects can have the same Service.
 */
export const LoadBalancer = defineResource({
  group: "elb.drover.dev",
  version: "v1alpha1",
  kind: "LoadBalancer",
  scope: "Namespaced",
  shortNames: ["elb"],
  categories: ["drover"],
  description: "A network load balancer of AWS for the Service of the same name.",
  spec,
  status,
  printerColumns: [
    { name: "Address", type: "string", jsonPath: ".status.dnsName" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
});

export type LoadBalancerContext = ReconcileContext<typeof LoadBalancer>;
export type LoadBalancerSpec = z.output<typeof spec>;
