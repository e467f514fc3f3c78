/** The address of an API server, for requests over HTTP without a client. */
export interface ApiAddress {
  /** Its URL. */
  readonly server: string;
  /** The bearer token that it requires. */
  readonly token: string | undefined;
}

/** The header that authenticates a request. */
export const authorizationHeader = ({ token }: ApiAddress): Readonly<Record<string, string>> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };
