/** A client certificate and its key in PEM. Unchanged credentials are the same object. */
export interface ClientCertificate {
  readonly certificate: string
  readonly key: string
}

/** Credentials sent to a server. Unchanged credentials are the same object. */
export interface Proof {
  /** The value of the Authorization header. */
  readonly authorization?: string | undefined
  readonly certificate?: ClientCertificate | undefined
}

/** The source of a user's proofs. */
export interface Credentials {
  /** Returns the current proof; a promise only if it must be fetched. */
  current(): Proof | Promise<Proof>
  /** Called after a server rejected this proof with 401. Resolves to true if `current` now returns another one. */
  refused(proof: Proof): Promise<boolean>
}

/** The address of an API and the credentials for it: the content of a kubeconfig's context. */
export interface ClusterAccess {
  readonly server: URL
  /** Other known servers of the same cluster, used while `server` does not answer. */
  otherServers?(): readonly URL[]
  /** The current CA certificates for the server in PEM; undefined for those of the system. */
  authority(): string | undefined
  /** The name that the server's certificate must contain, if it is not the host. */
  readonly tlsServerName?: string | undefined
  readonly insecureSkipTlsVerify: boolean
  /** `http://user:password@host:port`; undefined for the environment's proxy or a direct connection. */
  readonly proxy?: URL | undefined
  /** Headers of every request: impersonation. */
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly credentials: Credentials
  /** The default namespace of commands. */
  readonly namespace: string
}

/** Returns credentials that never change. */
export function fixedCredentials(proof: Proof = {}): Credentials {
  return { current: () => proof, refused: async () => false }
}
