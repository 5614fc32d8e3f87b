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
  const parts = path.slice(1, trailingSlash ? -1 : undefined).split('/')
  for (let i = 0; i < parts.length; i++) {
    const decoded = decodeSegment(parts[i]!)
    // An empty segment ("//") or a broken escape names nothing that exists.
    if (decoded === undefined || decoded === '') return { kind: 'other' }
    parts[i] = decoded
  }
  const root = parts[0]
  if (root !== 'api' && root !== 'apis') return { kind: 'other' }
  const isCore = root === 'api'
  const group = isCore ? '' : (parts[1] ?? '')
  const version = (isCore ? parts[1] : parts[2]) ?? ''
  let at = isCore ? 2 : 3
  if (parts.length <= at) return { kind: 'discovery', root: isCore ? '/api' : '/apis', group, version }

  const isOldWatch = parts[at] === 'watch' && parts.length > at + 1
  if (isOldWatch) at++
  const left = parts.length - at
  const inNamespace = parts[at] === 'namespaces' && left > 2 && !(left === 3 && namespaceSubresources.has(parts[at + 2]!))
  const namespace = inNamespace ? parts[at + 1]! : ''
  if (inNamespace) at += 2
  // Written out: spreading one object into another takes ten times as long as all that comes before.
  return {
    kind: 'resource',
    group,
    version,
    apiVersion: group ? `${group}/${version}` : version,
    namespace,
    plural: parts[at] ?? '',
    name: parts[at + 1] ?? '',
    subresource: parts[at + 2] ?? '',
    rest: parts.slice(at + 3).join('/'),
    isOldWatch,
    inNamespace,
    trailingSlash,
  }
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
