import {
  DescribeTagsCommand,
  type ElasticLoadBalancingV2Client,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { AwsRefusal, splitTags, type TagSet } from "drover/aws";
import { responseOrRefusal } from "./elb-errors.ts";

/** The parameters of every call of one run. */
export interface BalancerCall {
  readonly client: ElasticLoadBalancingV2Client;
  readonly http: { readonly abortSignal: AbortSignal };
}

/** The ARNs of one DescribeTags. */
const maxArns = 20;

/** The tags of load balancers and target groups, by ARN. */
export async function readTags(
  { client, http }: BalancerCall,
  arns: readonly string[],
): Promise<ReadonlyMap<string, TagSet> | AwsRefusal> {
  const found = new Map<string, TagSet>();
  for (let first = 0; first < arns.length; first += maxArns) {
    const ResourceArns = arns.slice(first, first + maxArns);
    const answer = await responseOrRefusal(client.send(new DescribeTagsCommand({ ResourceArns }), http));
    if (answer instanceof AwsRefusal) return answer;
    for (const { ResourceArn = "", Tags = [] } of answer.TagDescriptions ?? []) {
      found.set(ResourceArn, splitTags(Tags.map(({ Key = "", Value = "" }) => [Key, Value])));
    }
  }
  return found;
}

/** A page of a list. */
interface Page {
  readonly NextMarker?: string | undefined;
}

/** All pages of a list. `send` gets the marker of the page. */
export async function pages<Answer extends Page>(
  send: (Marker: string | undefined) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  let marker: string | undefined;
  do {
    const answer = await send(marker);
    answers.push(answer);
    marker = answer.NextMarker === "" ? undefined : answer.NextMarker;
  } while (marker !== undefined);
  return answers;
}
