import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { UserInfo } from '../../objects/objects.ts'
import { authenticatedGroup } from './anonymous.ts'

interface Entry {
  hash: Buffer
  user: UserInfo
}

/**
 * The tokens of --token-auth-file, stored under a keyed hash. A lookup takes the same time for every token, so its
 * timing reveals nothing about the known tokens.
 */
export class StaticTokens {
  readonly #key = randomBytes(32)
  #entries = new Map<string, Entry>()

  constructor(tokens: ReadonlyMap<string, UserInfo> = new Map()) {
    this.replace(tokens)
  }

  replace(tokens: ReadonlyMap<string, UserInfo>): void {
    const entries = new Map<string, Entry>()
    for (const [token, user] of tokens) {
      const hash = this.#hashOf(token)
      entries.set(hash.toString('base64'), { hash, user })
    }
    this.#entries = entries
  }

  userOf(token: string): UserInfo | undefined {
    if (this.#entries.size === 0) return undefined
    const hash = this.#hashOf(token)
    const entry = this.#entries.get(hash.toString('base64'))
    const isEqual = timingSafeEqual(entry?.hash ?? Buffer.alloc(hash.length), hash)
    return entry && isEqual ? entry.user : undefined
  }

  #hashOf(token: string): Buffer {
    return createHmac('sha256', this.#key).update(token).digest()
  }
}

/** Parses a token file with lines of `token,user,uid,"group1,group2"`. Throws an error with a message for the user. */
export function parseTokenFile(text: string): Map<string, UserInfo> {
  const users = new Map<string, UserInfo>()
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const where = `token file line ${i + 1}`
    const fields = splitCsv(line.trim())
    if (!fields) throw new Error(`${where}: a quoted value is not closed`)
    const [token = '', name = '', uid = '', groups = ''] = fields
    if (fields.length < 3) {
      throw new Error(`${where}: must have at least 3 columns (token, user name, user uid), found ${fields.length}`)
    }
    if (token === '') throw new Error(`${where}: the token is empty`)
    const listed = groups
      .split(',')
      .map((g) => g.trim())
      .filter((g) => g !== '')
    users.set(token, { name, ...(uid ? { uid } : {}), groups: [...listed, authenticatedGroup] })
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
