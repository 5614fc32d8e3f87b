import { ApiError } from '../../api/errors.ts'

/** What a client asked an answer to be turned into, besides the object itself. */
export interface Transform {
  kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | 'APIGroupDiscoveryList'
  group: 'meta.k8s.io' | 'apidiscovery.k8s.io'
  version: string
}

/** How an answer is to be written. */
export interface Accepted {
  readonly format: 'json' | 'yaml'
  /** The value of the Content-Type header. */
  readonly contentType: string
  readonly transform?: Transform
  /** `pretty=1` in the header; the query parameter of that name is the caller's. */
  readonly pretty: boolean
}

/** What an endpoint can answer. */
export interface Allowed {
  /** Which kinds it can turn an answer into. */
  transforms?: 'objects' | 'groups'
  /** Whether Kubernetes' router judges the header before the handler does: by plain names, with no wildcard but "*\/*". */
  router?: 'one' | 'many'
  /** Whether `stream=watch` may be asked for. */
  stream?: 'allowed' | 'required'
}

/** Endpoints that answer one object: get, create, update, patch, delete and the subresources. */
export const oneObject: Allowed = { transforms: 'objects', router: 'one', stream: 'allowed' }
/** A list, or the deletion of one. */
export const collection: Allowed = { transforms: 'objects', router: 'many', stream: 'allowed' }
export const watchStream: Allowed = { transforms: 'objects', router: 'many', stream: 'required' }
/** A document that is only ever itself: `/api/v1`, `/apis/apps/v1`, `/version`. */
export const document: Allowed = { router: 'one' }
/** The same where Kubernetes answers before its router: `/apis/apps`. */
export const unroutedDocument: Allowed = {}
/** `/api` and `/apis` when asked for everything at once. */
export const groupsDocument: Allowed = { transforms: 'groups' }

const protobuf = 'application/vnd.kubernetes.protobuf'
const mediaTypes = ['application/json', 'application/yaml', protobuf]
const streamTypes = ['application/json;stream=watch', `${protobuf};stream=watch`]

interface Clause {
  type: string
  subtype: string
  q: number
  params: Map<string, string>
}

const specificity = (c: Clause) => (c.type === '*' ? 0 : c.subtype === '*' ? 1 : 2)

/** The clauses of an Accept header, best first; what is not `type/subtype` is passed over. */
function parseAccept(header: string): Clause[] {
  const clauses: Clause[] = []
  for (const text of header.split(',')) {
    const [name = '', ...rest] = text.split(';')
    const range = name.trim() === '*' ? '*/*' : name.trim()
    const [type, subtype, ...more] = range.split('/')
    if (!type || !subtype || more.length) continue
    const clause: Clause = { type, subtype, q: 1, params: new Map() }
    for (const param of rest) {
      const at = param.indexOf('=')
      if (at < 0) continue
      const key = param.slice(0, at).trim()
      const value = param.slice(at + 1).trim()
      // A weight that is not a number counts as 0, and 0 is a weight like any other.
      if (key === 'q') clause.q = Number.parseFloat(value) || 0
      else clause.params.set(key, value)
    }
    clauses.push(clause)
  }
  return clauses.sort((a, b) => b.q - a.q || specificity(b) - specificity(a))
}

function transformOf(params: Map<string, string>, allowed: Allowed): Transform | null | undefined {
  const kind = params.get('as')
  const group = params.get('g')
  const version = params.get('v')
  if (kind === undefined && group === undefined && version === undefined) return undefined
  if (allowed.transforms === 'groups') {
    const known = kind === 'APIGroupDiscoveryList' && group === 'apidiscovery.k8s.io' && version === 'v2'
    return known ? { kind, group, version } : null
  }
  if (allowed.transforms !== 'objects' || group !== 'meta.k8s.io') return null
  if (version !== 'v1' && version !== 'v1beta1') return null
  if (kind !== 'Table' && kind !== 'PartialObjectMetadata' && kind !== 'PartialObjectMetadataList') return null
  return { kind, group, version }
}

function acceptClause(clause: Clause, format: 'json' | 'yaml', allowed: Allowed): Accepted | undefined {
  const transform = transformOf(clause.params, allowed)
  if (transform === null) return undefined
  const stream = clause.params.get('stream')
  if (stream && (format !== 'json' || !allowed.stream || stream !== 'watch')) return undefined
  const serverVersion = clause.params.get('sv')
  if (serverVersion && serverVersion !== 'v1') return undefined
  const plain = `application/${format}`
  const contentType =
    transform?.kind === 'APIGroupDiscoveryList' ? `${plain};g=${transform.group};v=${transform.version};as=${transform.kind}` : plain
  return { format, contentType, pretty: clause.params.get('pretty') === '1', ...(transform ? { transform } : {}) }
}

const notAcceptable = (types: string[]) =>
  new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${types.join(', ')}`)

/** Kubernetes' router compares names only, letter by letter. */
function checkRouter(header: string, router: 'one' | 'many'): void {
  const produces = router === 'many' ? [...mediaTypes, ...streamTypes] : mediaTypes
  for (const text of header.split(',')) {
    const name = text.split(';', 1)[0]!.trim()
    if (name === '*/*' || produces.includes(name)) return
  }
  throw new ApiError(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${produces.join(', ')}`, {})
}

/** What was chosen before: clients send few headers, always the same. Bounded, so that nobody can fill the memory through it. */
const chosen = new Map<Allowed, Map<string, Accepted>>()
const maxChosen = 100

/** Chooses how to answer, by the Accept header. Protobuf is never chosen; throws 406 where nothing is left. */
export function negotiate(header: string | undefined, allowed: Allowed): Accepted {
  if (!header || header === plainJson.contentType) return plainJson
  let known = chosen.get(allowed)
  if (!known) chosen.set(allowed, (known = new Map()))
  let accepted = known.get(header)
  if (accepted) return accepted
  accepted = choose(header, allowed)
  if (known.size < maxChosen) known.set(header, accepted)
  return accepted
}

const plainJson: Accepted = { format: 'json', contentType: 'application/json', pretty: false }

function choose(header: string, allowed: Allowed): Accepted {
  if (allowed.router) checkRouter(header, allowed.router)
  let wantsProtobuf = false
  for (const clause of parseAccept(header)) {
    if (`${clause.type}/${clause.subtype}` === protobuf) wantsProtobuf = true
    for (const format of ['json', 'yaml'] as const) {
      const fits = clause.type === '*' ? clause.subtype === '*' : clause.type === 'application' && [format, '*'].includes(clause.subtype)
      if (!fits) continue
      const accepted = acceptClause(clause, format, allowed)
      if (!accepted) continue
      if (allowed.stream === 'required' && format !== 'json') throw notAcceptable(streamTypes)
      return accepted
    }
  }
  // Who can read only protobuf is told what we have; everyone else hears Kubernetes' own words.
  throw notAcceptable(wantsProtobuf ? mediaTypes.slice(0, 2) : mediaTypes)
}

/** The ways to say what to change. */
export type PatchType = 'json' | 'merge' | 'strategic' | 'apply'

const patchTypes = new Map<string, PatchType>([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
  ['application/apply-patch+yaml', 'apply'],
])

const unknownFormat = (types: readonly string[]) =>
  new ApiError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${types.join(', ')}`,
  )

const token = "[\\w!#$%&'*+.^`|~-]+"
const mediaType = new RegExp(`^\\s*(${token}(?:/${token})?)\\s*(?:;\\s*${token}\\s*=\\s*(?:${token}|"(?:[^"\\\\]|\\\\.)*")\\s*)*;?\\s*$`)

/** The forms in which an object can be sent. */
export type BodyFormat = 'json' | 'yaml' | 'protobuf'

/** How to read a body that is an object, by its Content-Type; none is JSON. Throws 415. */
export function bodyType(contentType: string | undefined): BodyFormat {
  if (!contentType) return 'json'
  // No type is that long, and the pattern takes its time over what is.
  const name = contentType.length > 256 ? undefined : mediaType.exec(contentType)?.[1]?.toLowerCase()
  if (name === 'application/json') return 'json'
  if (name === 'application/yaml') return 'yaml'
  if (name === protobuf) return 'protobuf'
  throw unknownFormat(mediaTypes)
}

/** How to read a patch, by its Content-Type. Custom resources know no strategic merge. Throws 415. */
export function patchType(contentType: string | undefined, custom = false): PatchType {
  const type = patchTypes.get(contentType?.split(';', 1)[0]!.trim() ?? '')
  if (!custom && !type) throw new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {})
  if (type && !(custom && type === 'strategic')) return type
  throw unknownFormat([...patchTypes.keys()].filter((name) => patchTypes.get(name) !== 'strategic'))
}

/** Whether JSON is written with line breaks: when asked for, and for people with curl or a browser. */
export function wantsPretty(accepted: Accepted, query: URLSearchParams, userAgent: string | undefined): boolean {
  if (accepted.pretty) return true
  const asked = query.get('pretty')
  if (asked) return ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(asked)
  return userAgent !== undefined && /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent)
}
