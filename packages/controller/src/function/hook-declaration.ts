import { z } from "zod";

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,100}$/, "a header's name has letters, digits and dashes, at most 100");
const fieldPath = z.string().min(1).max(500);

/** A Secret in the namespace of the ReconcileFunction, and the key of its value. */
const secretRef = z
  .strictObject({
    name: z.string().regex(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/, "a Secret's name is a DNS subdomain"),
    key: z
      .string()
      .max(253)
      .regex(/^\.?[-_a-zA-Z0-9][-._a-zA-Z0-9]*$/, "a Secret's key has letters, digits, dots, dashes and _"),
  })
  .meta({
    description:
      "A Secret in this namespace, and its key. While a secret is changed, the value may have several, one per line.",
  });

const hmac = z.strictObject({
  secretRef,
  header: headerName.meta({ description: "The header with the signature, such as X-Hub-Signature-256." }),
  algorithm: z
    .enum(["sha256", "sha512"], {
      error: "give sha256 or sha512; SHA-1 is no longer trusted: configure the sender to use one of these",
    })
    .default("sha256"),
  prefix: z.string().max(50).optional().meta({
    description: "The prefix of the signature, such as sha256=.",
  }),
  encoding: z.enum(["hex", "base64"]).default("hex"),
});

/** How an event from outside the cluster wakes keys: how it is authenticated, and how it names the objects. */
export const hookDeclaration = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "a hook's name is a DNS label: a-z, 0-9, -, at most 63")
    .meta({ description: "Events are sent to /hooks/<namespace>/<function>/<name>." }),
  verify: z
    .strictObject({
      standardWebhooks: z
        .strictObject({ secretRef })
        .optional()
        .meta({ description: "Signed after www.standardwebhooks.com; the secret begins with whsec_." }),
      hmac: hmac.optional().meta({ description: "A header contains the HMAC of the body." }),
      bearer: z
        .strictObject({ secretRef })
        .optional()
        .meta({ description: "The header Authorization contains the secret itself, after Bearer." }),
    })
    .meta({ description: "How events are authenticated: exactly one of these." }),
  id: z
    .strictObject({
      header: headerName.optional(),
      field: fieldPath.optional(),
    })
    .optional()
    .meta({
      description:
        "Where an event's id is: a header or a field of the body. A repeated event wakes no object. Left out: every " +
        "event wakes objects, except with standardWebhooks, which has an id.",
    }),
  names: z
    .strictObject({
      field: fieldPath.optional().meta({
        description: "The path in the body of the name or names, such as Records[].s3.bucket.name.",
      }),
      header: headerName.optional().meta({
        description:
          "The header with the name, such as ce-subject. Only with bearer: signatures do not cover headers.",
      }),
      heldBy: fieldPath.optional().meta({
        description:
          "A path in the objects of `for`, such as status.bucketName. The event then contains the value at this path, " +
          "not the name of an object.",
      }),
      namespace: z.string().min(1).max(63).optional().meta({
        description: "The namespace of the named objects. Left out: the event contains namespace/name.",
      }),
      acrossNamespaces: z.boolean().optional().meta({
        description:
          "Also accept names of objects in other namespaces than this function's, and of cluster-scoped objects.",
      }),
    })
    .meta({
      description: "Which objects of the kind `for` an event names: exactly one of field and header.",
    }),
});

export type HookDeclaration = z.output<typeof hookDeclaration>;
