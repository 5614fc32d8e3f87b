import { timingSafeEqual, createHash } from 'node:crypto'
import type { UserInfo } from '../objects/objects.ts'

/** What a connection and a request show of who sent them. */
export interface Credentials {
  authorization: string | undefined
  /** The subject of a client certificate that our CA has signed. */
  certificate: { commonName: string; organizations: readonly string[] } | undefined
}

const authenticated = 'system:authenticated'

/** Whose a token is, and for which of the wanted audiences it is meant. */
export interface Identified {
  user: UserInfo
  audiences: readonly string[]
}

/** Finds out whose a token is, if it is meant for one of these audiences. */
export type TokenReader = (token: string, audiences: readonly string[]) => Identified | undefined

/** The user of requests without credentials, where these are allowed. */
export const anonymous: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

/** Tells who sends a request; undefined for nobody we know. */
export class Authenticator {
  /** By the hash of the token: comparing hashes takes the same time whatever the token. */
  readonly #tokens = new Map<string, UserInfo>()

  #tokenReader: TokenReader = () => undefined
  /** What this server is called in tokens. */
  #audiences: readonly string[] = []

  constructor(tokens: ReadonlyMap<string, UserInfo> = new Map()) {
    for (const [token, user] of tokens) this.#tokens.set(hashOf(token), user)
  }

  /** Who else knows tokens: asked for those that are not on the list. */
  setTokenReader(read: TokenReader, audiences: readonly string[]): void {
    this.#tokenReader = read
    this.#audiences = audiences
  }

  authenticate({ authorization, certificate }: Credentials): UserInfo | undefined {
    if (certificate?.commonName) {
      return { name: certificate.commonName, groups: [...certificate.organizations, authenticated] }
    }
    const token = /^Bearer +(\S+)$/i.exec(authorization?.trim() ?? '')?.[1]
    return token ? this.identify(token)?.user : undefined
  }

  /** Whose token this is, if it is meant for one of the audiences; where none are asked for, for this server. */
  identify(token: string, asked: readonly string[] = []): Identified | undefined {
    const wanted = asked.length > 0 ? asked : this.#audiences
    const sent = hashOf(token)
    for (const [hash, user] of this.#tokens) {
      if (!timingSafeEqual(Buffer.from(hash), Buffer.from(sent))) continue
      // A token of the list is meant for this server, and for nobody else.
      const audiences = wanted.filter((audience) => this.#audiences.includes(audience))
      return audiences.length > 0 || wanted.length === 0 ? { user, audiences } : undefined
    }
    return this.#tokenReader(token, wanted)
  }
}

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex')

/** Reads a token file: lines of `token,user,uid,"group1,group2"`. Throws a sentence for the user. */
export function parseTokenFile(text: string): Map<string, UserInfo> {
  const users = new Map<string, UserInfo>()
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const fields = splitCsv(line.trim())
    if (!fields) throw new Error(`token file line ${i + 1}: a quoted value is not closed`)
    const [token = '', name = '', uid = '', groups = ''] = fields
    if (fields.length < 3) throw new Error(`token file line ${i + 1}: must have at least 3 columns (token, user name, user uid), found ${fields.length}`)
    if (token === '') throw new Error(`token file line ${i + 1}: the token is empty`)
    const listed = groups.split(',').map((g) => g.trim()).filter((g) => g !== '')
    users.set(token, { name, ...(uid ? { uid } : {}), groups: [...listed, authenticated] })
  }
  return users
}

function splitCsv(line: string): string[] | undefined {
  const fields: string[] = []
  let rest = line
  for (;;) {
    const quoted = /^\s*"((?:[^"]|"")*)"\s*(,|$)/.exec(rest)
    const plain = quoted ? undefined : /^([^,"]*)(,|$)/.exec(rest)
    const match = quoted ?? plain
    if (!match) return undefined
    fields.push(quoted ? match[1]!.replaceAll('""', '"') : match[1]!.trim())
    if (match[2] === '') return fields
    rest = rest.slice(match[0].length)
  }
}
