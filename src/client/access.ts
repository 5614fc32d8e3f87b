/** A certificate and its key, both in PEM. One that has not changed is the same object. */
export interface ClientCertificate {
  readonly certificate: string
  readonly key: string
}

/** What tells a server who is asking. One that has not changed is the same object. */
export interface Proof {
  /** The value of the Authorization header. */
  readonly authorization?: string | undefined
  readonly certificate?: ClientCertificate | undefined
}

/** Where the proofs of one user come from. */
export interface Credentials {
  /** What is to be sent now; a promise only where it is not at hand. */
  current(): Proof | Promise<Proof>
  /** Told that a server has answered this proof with 401. Resolves with whether `current` has another one now. */
  refused(proof: Proof): Promise<boolean>
}

/** Where an API is and how to be somebody there: what a kubeconfig's context says. */
export interface ClusterAccess {
  readonly server: URL
  /** The certificates that vouch for the server's, in PEM, as they are now; those of the system if undefined. */
  authority(): string | undefined
  /** The name that the server's certificate is checked for, where it is not the host's. */
  readonly tlsServerName?: string | undefined
  readonly insecureSkipTlsVerify: boolean
  /** `http://user:password@host:port`; undefined to go straight, or as the environment says. */
  readonly proxy?: URL | undefined
  /** Sent with every request: who to act as. */
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly credentials: Credentials
  /** Where a command works that is not told a namespace. */
  readonly namespace: string
}

/** A proof that never changes. */
export function fixedCredentials(proof: Proof = {}): Credentials {
  return { current: () => proof, refused: async () => false }
}
