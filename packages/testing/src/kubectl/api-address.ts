/** Where an API server is asked by plain HTTP, without a client that knows kinds. */
export interface ApiAddress {
  /** Its URL. */
  readonly server: string;
  /** The bearer token that it wants. */
  readonly token: string | undefined;
}

/** The header that lets a request in. */
export const authorizationHeader = ({ token }: ApiAddress): Readonly<Record<string, string>> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };
