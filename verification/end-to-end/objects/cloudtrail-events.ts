import { randomUUID } from "node:crypto";

/** A call of S3's API, as CloudTrail records it. */
export interface RecordedCall {
  readonly eventName: string;
  readonly bucketName: string;
  /** Other parameters of the request. */
  readonly parameters?: object;
}

/**
 * A management event of CloudTrail, as EventBridge sends it to an API destination. The envelope:
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-service-event-cloudtrail.html. The record in `detail`:
 * https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-event-reference-record-contents.html
 */
export function cloudTrailEvent({ eventName, bucketName, parameters }: RecordedCall) {
  const time = `${new Date().toISOString().slice(0, 19)}Z`;
  const accountId = "123456789012";
  return {
    version: "0",
    id: randomUUID(),
    "detail-type": "AWS API Call via CloudTrail",
    source: "aws.s3",
    account: accountId,
    time,
    region: "us-east-1",
    resources: [],
    detail: {
      eventVersion: "1.11",
      userIdentity: {
        type: "IAMUser",
        principalId: "AIDAEXAMPLEEXAMPLEEX",
        arn: `arn:aws:iam::${accountId}:user/alice`,
        accountId,
        accessKeyId: "AKIAEXAMPLEEXAMPLEEX",
        userName: "alice",
      },
      eventTime: time,
      eventSource: "s3.amazonaws.com",
      eventName,
      awsRegion: "us-east-1",
      sourceIPAddress: "192.0.2.10",
      userAgent: "[aws-cli/2.15.0]",
      requestParameters: { bucketName, Host: `${bucketName}.s3.amazonaws.com`, ...parameters },
      responseElements: null,
      additionalEventData: {
        SignatureVersion: "SigV4",
        CipherSuite: "TLS_AES_128_GCM_SHA256",
        bytesTransferredIn: 124,
        AuthenticationMethod: "AuthHeader",
        bytesTransferredOut: 0,
      },
      requestID: "0A1B2C3D4E5F6071",
      eventID: randomUUID(),
      readOnly: false,
      resources: [{ accountId, type: "AWS::S3::Bucket", ARN: `arn:aws:s3:::${bucketName}` }],
      eventType: "AwsApiCall",
      managementEvent: true,
      recipientAccountId: accountId,
      eventCategory: "Management",
    },
  };
}
