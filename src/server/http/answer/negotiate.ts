import { ApiError } from '../../../api/errors.ts'

/** A requested transformation of the result: Table, PartialObjectMetadata or APIGroupDiscoveryList. */
interface Transform {
  kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | 'APIGroupDiscoveryList'
  group: 'meta.k8s.io' | 'apidiscovery.k8s.io'
  version: string
}

/** The negotiated form of a response. */
export interface Accepted {
  readonly format: 'json' | 'yaml'
  /** The Content-Type header. */
  readonly contentType: string
  readonly transform?: Transform
  /** `pretty=1` in the Accept header. The caller handles the query parameter of the same name. */
  readonly pretty: boolean
}

/** The forms that an endpoint supports. */
export interface Allowed {
  /** The supported transformations. */
  transforms?: 'objects' | 'groups'
  /** Set if Kubernetes' router checks the header first. It compares names literally, with no wildcard but "*\/*". */
  router?: 'one' | 'many'
  /** Support of `stream=watch`. */
  stream?: 'allowed' | 'required'
}

/** Endpoints for one object: get, create, update, patch, delete and subresources. */
export const oneObject: Allowed = { transforms: 'objects', router: 'one', stream: 'allowed' }
/** list and deletecollection. */
export const collection: Allowed = { transforms: 'objects', router: 'many', stream: 'allowed' }
export const watchStream: Allowed = { transforms: 'objects', router: 'many', stream: 'required' }
/** A document without transformations: `/api/v1`, `/apis/apps/v1`, `/version`. */
export const document: Allowed = { router: 'one' }
/** A document that Kubernetes serves before its router: `/apis/apps`. */
export const unroutedDocument: Allowed = {}
/** `/api` and `/apis` with aggregated discovery. */
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

/** The clauses of an Accept header by descending weight. Malformed media types are skipped. */
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
      // A malformed weight counts as 0, which is an ordinary weight.
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
    transform?.kind === 'APIGroupDiscoveryList'
      ? `${plain};g=${transform.group};v=${transform.version};as=${transform.kind}`
      : plain
  return { format, contentType, pretty: clause.params.get('pretty') === '1', ...(transform ? { transform } : {}) }
}

const notAcceptable = (types: string[]) =>
  new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${types.join(', ')}`)

/** Kubernetes' router compares media types literally. */
function checkRouter(header: string, router: 'one' | 'many'): void {
  const produces = router === 'many' ? [...mediaTypes, ...streamTypes] : mediaTypes
  for (const text of header.split(',')) {
    const name = text.split(';', 1)[0]!.trim()
    if (name === '*/*' || produces.includes(name)) return
  }
  throw new ApiError(
    406,
    'NotAcceptable',
    `406: Not Acceptable\n\nAvailable representations: ${produces.join(', ')}`,
    {},
  )
}

/**
 * Cached results, since clients send few distinct headers. The cache is bounded, so that a client cannot exhaust
 * memory.
 */
const chosen = new Map<Allowed, Map<string, Accepted>>()
const maxChosen = 100

/** Negotiates the response by the Accept header. Protobuf is never chosen. Throws 406 if nothing matches. */
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
      const fits =
        clause.type === '*'
          ? clause.subtype === '*'
          : clause.type === 'application' && [format, '*'].includes(clause.subtype)
      if (!fits) continue
      const accepted = acceptClause(clause, format, allowed)
      if (!accepted) continue
      if (allowed.stream === 'required' && format !== 'json') throw notAcceptable(streamTypes)
      return accepted
    }
  }
  // A client that only accepts protobuf gets our list of media types, others get Kubernetes' message.
  throw notAcceptable(wantsProtobuf ? mediaTypes.slice(0, 2) : mediaTypes)
}

/** The supported patch types. */
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
const mediaType = new RegExp(
  `^\\s*(${token}(?:/${token})?)\\s*(?:;\\s*${token}\\s*=\\s*(?:${token}|"(?:[^"\\\\]|\\\\.)*")\\s*)*;?\\s*$`,
)

/** The supported encodings of a body. */
type BodyFormat = 'json' | 'yaml' | 'protobuf'

/** The encoding of a body by its Content-Type; JSON by default. Throws 415. */
export function bodyType(contentType: string | undefined): BodyFormat {
  if (!contentType) return 'json'
  // No valid media type is that long, and the pattern would be slow.
  const name = contentType.length > 256 ? undefined : mediaType.exec(contentType)?.[1]?.toLowerCase()
  if (name === 'application/json') return 'json'
  if (name === 'application/yaml') return 'yaml'
  if (name === protobuf) return 'protobuf'
  throw unknownFormat(mediaTypes)
}

/** The type of a patch by its Content-Type. Custom resources do not support strategic merge patches. Throws 415. */
export function patchType(contentType: string | undefined, custom = false): PatchType {
  const type = patchTypes.get(contentType?.split(';', 1)[0]!.trim() ?? '')
  if (!custom && !type) throw new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {})
  if (type && !(custom && type === 'strategic')) return type
  throw unknownFormat([...patchTypes.keys()].filter((name) => patchTypes.get(name) !== 'strategic'))
}

/** True if JSON is indented: on request, and for curl and browsers. */
export function wantsPretty(accepted: Accepted, query: URLSearchParams, userAgent: string | undefined): boolean {
  if (accepted.pretty) return true
  const asked = query.get('pretty')
  if (asked) return ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(asked)
  return userAgent !== undefined && /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent)
}
