import { badRequest } from './errors.ts'
import { goJsonName } from './printing/go-format.ts'
import { JsonSyntaxError, parseJson } from './json/index.ts'

/** The position at which a paginated list continues. */
interface ContinueToken {
  /** The revision of the first page; -1 stands for the current one. */
  revision: number
  /** The last key of the previous page, with its prefix. */
  after: string
}

const version = 'meta.k8s.io/v1'

/** The token of the page after `key`. `prefix` is common to all keys of the list and not part of the token. */
export function encodeContinue(revision: number, key: string, prefix: string): string {
  if (!key.startsWith(prefix)) throw new Error(`key ${JSON.stringify(key)} is not under ${JSON.stringify(prefix)}`)
  return Buffer.from(JSON.stringify({ v: version, rv: revision, start: `${key.slice(prefix.length)}\0` })).toString(
    'base64url',
  )
}

const refuse = (why: string) => badRequest(`invalid continue token: continue key is not valid: ${why}`)

interface Fields {
  v: string
  rv: number
  start: string
}

function parseFields(text: string): Fields {
  try {
    const { value } = parseJson(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw refuse(`json: cannot unmarshal ${goJsonName(value)} into Go value of type storage.continueToken`)
    }
    const { v = '', rv = 0, start = '' } = value
    if (typeof v !== 'string') throw wrongType(v, 'v', 'string')
    if (typeof rv !== 'number' && typeof rv !== 'bigint') throw wrongType(rv, 'rv', 'int64')
    if (typeof start !== 'string') throw wrongType(start, 'start', 'string')
    return { v, rv: Number(rv), start }
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw refuse(error.message)
    throw error
  }
}

const wrongType = (value: unknown, field: string, type: string) =>
  refuse(`json: cannot unmarshal ${goJsonName(value)} into Go struct field continueToken.${field} of type ${type}`)

function decodeText(token: string): string {
  const bad = /[^A-Za-z0-9_-]/.exec(token)
  if (bad) throw refuse(`illegal base64 data at input byte ${bad.index}`)
  if (token.length % 4 === 1) throw refuse(`illegal base64 data at input byte ${token.length - 1}`)
  return Buffer.from(token, 'base64url').toString()
}

const climbs = (key: string) =>
  key.split('/').some((part, i) => part === '..' || part === '.' || (part === '' && i > 0))

/** Decodes a token. Throws a BadRequest in Kubernetes' words if it is invalid. */
export function decodeContinue(token: string, prefix: string): ContinueToken {
  const { v, rv, start } = parseFields(decodeText(token))
  if (v !== version) throw refuse(`server does not recognize this encoded version ${v}`)
  if (rv === 0) throw refuse(`incorrect encoded start resourceVersion (version ${version})`)
  if (start === '') throw refuse(`encoded start key empty (version ${version})`)
  // The prefix limits the keys that a list may read. A token must not lead out of it.
  if (climbs(start)) throw refuse(start)
  const key = start.startsWith('/') ? start.slice(1) : start
  return { revision: rv, after: prefix + (key.endsWith('\0') ? key.slice(0, -1) : key) }
}
