/** A request for a resource, as its path says. */
export interface ResourcePath {
  kind: 'resource'
  group: string
  version: string
  /** `v1`, `apps/v1` */
  apiVersion: string
  /** '' across namespaces and for cluster-wide kinds. */
  namespace: string
  plural: string
  /** '' for the collection. */
  name: string
  subresource: string
  /** What follows the subresource: the path of a proxied request. */
  rest: string
  /** A path of the old form /api/v1/watch/…. */
  isOldWatch: boolean
  /** A namespace stands in the path. */
  inNamespace: boolean
  /** The path ends in a slash. */
  trailingSlash: boolean
}

/** /api, /apis, /apis/apps, /apis/apps/v1. */
export interface DiscoveryPath {
  kind: 'discovery'
  root: '/api' | '/apis'
  group: string
  version: string
}

export type RequestPath = ResourcePath | DiscoveryPath | { kind: 'other' }

const namespaceSubresources = new Set(['status', 'finalize'])

/** What a path asks for. `path` is the part before the query, decoded segment by segment here. */
export function parsePath(path: string): RequestPath {
  const trailingSlash = path.length > 1 && path.endsWith('/')
  const raw = path.slice(1).split('/')
  if (trailingSlash) raw.pop()
  const parts: string[] = []
  for (const part of raw) {
    const decoded = decodeSegment(part)
    // An empty segment ("//") or a broken escape names nothing that exists.
    if (decoded === undefined || decoded === '') return { kind: 'other' }
    parts.push(decoded)
  }
  const root = parts[0]
  if (root !== 'api' && root !== 'apis') return { kind: 'other' }
  const isCore = root === 'api'
  const group = isCore ? '' : (parts[1] ?? '')
  const version = (isCore ? parts[1] : parts[2]) ?? ''
  const rest = parts.slice(isCore ? 2 : 3)
  if (rest.length === 0) return { kind: 'discovery', root: isCore ? '/api' : '/apis', group, version }

  const isOldWatch = rest[0] === 'watch' && rest.length > 1
  if (isOldWatch) rest.shift()
  const base = { kind: 'resource' as const, group, version, apiVersion: group ? `${group}/${version}` : version, isOldWatch, trailingSlash }
  const inNamespace = rest[0] === 'namespaces' && rest.length > 2 && !(rest.length === 3 && namespaceSubresources.has(rest[2]!))
  const [plural = '', name = '', subresource = '', ...more] = inNamespace ? rest.slice(2) : rest
  return { ...base, inNamespace, namespace: inNamespace ? rest[1]! : '', plural, name, subresource, rest: more.join('/') }
}

function decodeSegment(segment: string): string | undefined {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

/** The parameters of a query. A pair with a broken escape is left out, as Go does, instead of being taken literally. */
export function parseQuery(text: string): URLSearchParams {
  if (!/%(?![0-9a-fA-F]{2})|;/.test(text)) return new URLSearchParams(text)
  return new URLSearchParams(text.split('&').filter((pair) => !/%(?![0-9a-fA-F]{2})|;/.test(pair)).join('&'))
}
