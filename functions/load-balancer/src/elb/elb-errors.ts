import { awsErrors, type NextAction, settingCalls, stop, wait } from "drover/aws";

const accessDenied = wait("1m", "AccessDenied", "Allow it for the credentials in use.");
const invalidNetwork = stop("InvalidNetwork", "Correct spec.subnets, spec.securityGroups and spec.scheme.");
const tooMany = wait("5m", "TooMany", "Delete what is not needed, or have the account's limit raised.");
const busy = wait("10s", "OperationPending", "Another operation is in progress; it is tried again.");

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_CreateLoadBalancer.html and the like. */
const byCode: Readonly<Record<string, NextAction>> = {
  AvailabilityZoneNotSupportedException: invalidNetwork,
  InvalidConfigurationRequestException: invalidNetwork,
  InvalidSchemeException: invalidNetwork,
  InvalidSecurityGroupException: invalidNetwork,
  InvalidSubnetException: invalidNetwork,
  SubnetNotFoundException: invalidNetwork,
  ValidationError: invalidNetwork,
  OperationNotPermittedException: wait(
    "1m",
    "OperationNotPermitted",
    "With deletion protection, first set spec.deletionProtection to false.",
  ),
  PriorRequestNotCompleteException: busy,
  ResourceInUseException: busy,
  TooManyListenersException: tooMany,
  TooManyLoadBalancersException: tooMany,
  TooManyTargetGroupsException: tooMany,
  TooManyTargetsException: tooMany,
};

const errors = awsErrors("Elastic Load Balancing", byCode, accessDenied);
export const { responseOrRefusal, errorAfter, refusedCreation } = errors;

/** The codes with which a value of a setting is refused. */
const invalid: ReadonlySet<string> = new Set([
  "AvailabilityZoneNotSupportedException",
  "IncompatibleProtocolsException",
  "InvalidConfigurationRequestException",
  "InvalidSecurityGroupException",
  "InvalidSubnetException",
  "InvalidTargetException",
  "SubnetNotFoundException",
  "TargetGroupAssociationLimitException",
  "TooManyListenersException",
  "TooManyTargetGroupsException",
  "TooManyTargetsException",
  "UnsupportedProtocolException",
  "ValidationError",
]);

export const { answered, refusalOf } = settingCalls(
  errors,
  { service: "Elastic Load Balancing", noun: "load balancer" },
  invalid,
);
