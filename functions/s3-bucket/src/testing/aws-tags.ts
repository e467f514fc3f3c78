import type { S3Fault, S3FaultProxy, S3Answer } from "./s3-fault-proxy.ts";

const xmlOf = (tags: Readonly<Record<string, string>>): string =>
  Object.entries(tags)
    .map(([key, value]) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`)
    .join("");

const tagging = (tags: string): string =>
  `<Tagging xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><TagSet>${tags}</TagSet></Tagging>`;

/**
 * Makes a proxy treat tags of its buckets as AWS treats those of its own services: they are listed among the others, and a
 * set that is written without them, or with others of that kind, is refused. The server behind takes none of them.
 */
export function keepAwsTags(proxy: S3FaultProxy, tags: Readonly<Record<string, string>>): void {
  const own = xmlOf(tags);
  proxy.fault = ({ operation, body }): S3Fault => {
    switch (operation) {
      case "GetBucketTagging":
        return { asked: body, answered: (answer) => listed(answer, own) };
      case "PutBucketTagging": {
        const rest = body.replace(/<Tag><Key>(aws:[^<]*)<\/Key><Value>([^<]*)<\/Value><\/Tag>/g, "");
        const sent = [...body.matchAll(/<Tag><Key>(aws:[^<]*)<\/Key><Value>([^<]*)<\/Value><\/Tag>/g)];
        const isSame =
          sent.length === Object.keys(tags).length &&
          sent.every(([, key = "", value]) => tags[key] === value);
        return isSame ? { asked: rest, answered: (answer) => answer } : { status: 400, code: "InvalidTag" };
      }
      case "DeleteBucketTagging":
        return { status: 400, code: "InvalidTag" };
      default:
        return "none";
    }
  };
}

function listed({ status, body }: S3Answer, own: string): S3Answer {
  if (status === 404 && body.includes("NoSuchTagSet")) return { status: 200, body: tagging(own) };
  return { status, body: body.replace(/<TagSet>|<TagSet ?\/>/, `<TagSet>${own}`) };
}
