import {
  functionSettings,
  namespaceName,
  parsedBy,
  partSettings,
  plain,
  readSettings,
  redisUrlForPods,
  span,
  wordsIn,
} from "@drover/runtime";
import { z } from "zod";
import { metadataNetworks, parseDestinations, parseNetworks, usualEgress } from "./egress.ts";

/** A ServiceAccount, as `namespace/name`. */
const account = (usual: string) =>
  plain(
    z
      .string()
      .regex(/^[a-z0-9-]+\/[a-z0-9.-]+$/, { error: `give namespace and name, such as ${usual}` })
      .default(usual)
      .transform((text) => {
        const [namespace = "", name = ""] = text.split("/");
        return { namespace, name };
      }),
  );

const fields = functionSettings.extend({
  ...partSettings.shape,
  /** Redis as Pods reach it, without user or password. Default: as this process does. */
  functionsRedisUrl: redisUrlForPods.optional(),
  /** Where autoscalers reach this process, such as http://deployer.drover:8080. */
  scalingUrl: z
    .string()
    .regex(/^https?:\/\/[^\s]+$/, { error: "give a URL such as http://deployer.drover:8080" })
    .optional(),
  /** Where Pods of functions may connect to, beside DNS, Redis and the gateway: networks, and `pods`; or `none`. */
  functionsEgress: plain(z.string().default(usualEgress).transform(parsedBy(parseDestinations))),
  /** Networks that are closed to them, but for what `functionsEgress` names in them; or `none`. */
  functionsEgressExcept: plain(z.string().default(metadataNetworks).transform(parsedBy(parseNetworks))),
  /** Namespaces whose Pods may read the metrics of functions, such as `monitoring`. */
  monitoringNamespaces: plain(z.string().default("").transform(wordsIn).pipe(z.array(namespaceName))),
  /** The ServiceAccounts of bridges and gateways, as in `drover/gateway`. */
  bridgeAccount: account("drover/bridge"),
  gatewayAccount: account("drover/gateway"),
  /** The ServiceAccount of KEDA's operator: it makes the tokens with which it asks for figures. */
  kedaAccount: account("keda/keda-operator"),
  /** How often permits are reviewed. One and a quarter of this time after an author has lost a permission it is withdrawn. */
  reviewEvery: plain(span.default(20_000)),
  /** How often functions get new passwords and signing keys. */
  rotateEvery: plain(span.default(20 * 86_400_000)),
  /** How often Redis is looked through for what functions that are gone have left in it. */
  sweepEvery: plain(span.default(60_000)),
  /** How often queues are looked at for how many Pods they want. */
  scaleEvery: plain(span.default(250)),
});

/** A Pod's URL has its user in it, for which the nodes of a cluster are no URL: they are reached by one address. */
const settings = fields.refine(
  ({ redisUrl, functionsRedisUrl }) => functionsRedisUrl !== undefined || URL.canParse(redisUrl),
  { path: ["functionsRedisUrl"] },
);

export const functionConfig = () => readSettings(settings, process.env);
