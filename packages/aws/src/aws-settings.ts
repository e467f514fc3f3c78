import type { Milliseconds } from "@drover/controller";
import { maxRequestTime } from "@drover/external";
import { z } from "zod";

const address = z.url({ protocol: /^https?$/, error: "give an address such as http://127.0.0.1:9000" });

/** The field of a spec with the region of a resource. */
export const regionSpec = (noun: string) =>
  z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/, "A region is written like eu-west-1.")
    .optional()
    .describe(
      `The ${noun}'s region. Default: the function's own region. It cannot be changed once the ${noun} exists.`,
    );

/** The settings of a process for one AWS service. A function gives them names of its own, such as `s3Endpoint`. */
export const awsSettings = {
  /** The address of the server, unless it is AWS. A setting of the process, never of an object, whose author could send keys there. */
  endpoint: address.optional(),
  /** The address of the server that gives credentials for roles. Default: `endpoint`, or AWS. */
  stsEndpoint: address.optional(),
  /** The region of resources if their spec names none. */
  region: z.string().min(1).default("us-east-1"),
  /**
   * The roles that objects may name in `assumeRole` without keys of their own: ARNs with commas between them, in which
   * `{namespace}` stands for the object's namespace. Default: none. Otherwise the author of an object in any namespace
   * could act as every role that this function may assume.
   */
  roles: z
    .string()
    .default("")
    .transform((text) =>
      text
        .split(",")
        .map((arn) => arn.trim())
        .filter((arn) => arn !== ""),
    ),
};

/** True for a timeout of one request, ms, that the kit allows. */
export const isRequestTime = (timeout: Milliseconds): boolean => timeout > 0 && timeout <= maxRequestTime;

/** The server that clients send requests to. */
export interface AwsServer {
  readonly endpoint?: string | undefined;
  readonly stsEndpoint?: string | undefined;
  readonly timeout: Milliseconds;
}
