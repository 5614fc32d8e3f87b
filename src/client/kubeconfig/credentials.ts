import type { ClientCertificate, Credentials, Proof } from '../transport/access.ts'
import type { WatchedFile } from './watched-file.ts'

/** Content that may change. */
export interface Source {
  content(): string
  reread(): string
}

/** Content that never changes. */
export const fixedSource = (text: string): Source => ({ content: () => text, reread: () => text })

export interface ProofSources {
  /** The token, without `Bearer`. Surrounding white space is ignored. */
  token?: Source | undefined
  basic?: { username: string; password: string } | undefined
  certificate?: { certificate: Source | WatchedFile; key: Source | WatchedFile } | undefined
}

/** Proofs from inline data and files. A new proof is created only when its content changes. */
export class FileCredentials implements Credentials {
  readonly #sources: ProofSources
  #proof: Proof | undefined

  constructor(sources: ProofSources) {
    this.#sources = sources
  }

  current(): Proof {
    return this.#make((source) => source.content())
  }

  async refused(proof: Proof): Promise<boolean> {
    return this.#make((source) => source.reread()) !== proof
  }

  #make(read: (source: Source) => string): Proof {
    const { token, basic, certificate } = this.#sources
    const authorization = token ? bearer(read(token)) : basic ? basicLogin(basic) : undefined
    const pair = certificate && this.#pair(read(certificate.certificate), read(certificate.key))
    if (!this.#proof || this.#proof.authorization !== authorization || this.#proof.certificate !== pair)
      this.#proof = { authorization, certificate: pair }
    return this.#proof
  }

  #pair(certificate: string, key: string): ClientCertificate {
    const known = this.#proof?.certificate
    return known && known.certificate === certificate && known.key === key ? known : { certificate, key }
  }
}

const bearer = (token: string): string | undefined => {
  const text = token.trim()
  return text === '' ? undefined : `Bearer ${text}`
}

const basicLogin = ({ username, password }: { username: string; password: string }) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
