import { badRequest } from '../../api/errors.ts'
import type { ResourceAttempt } from '../auth/authorize.ts'

export type ProxiedKind = 'pods' | 'services' | 'nodes'

/** The parts of a path below a `proxy` subresource. */
export interface ProxyPath {
  kind: ProxiedKind
  /** '' for nodes. */
  namespace: string
  /** `name`, `name:port` or `scheme:name:port`. */
  id: string
  /** The path up to the end of `/proxy`, not decoded. */
  root: string
  /** The rest of the path, not decoded: empty, or starting with a slash. */
  rest: string
}

const form = /^(\/api\/v1\/(?:namespaces\/([^/]+)\/(pods|services)|(nodes))\/([^/]+)\/proxy)(\/.*)?$/

/** Parses a path without its query. Everything after `/proxy` belongs to the destination and is not decoded. */
export function parseProxyPath(path: string): ProxyPath | undefined {
  const found = form.exec(path)
  if (!found) return undefined
  const [, root = '', namespace = '', kind, nodes, id = '', rest = ''] = found
  try {
    return {
      kind: (kind ?? nodes) as ProxiedKind,
      namespace: decodeURIComponent(namespace),
      id: decodeURIComponent(id),
      root,
      rest,
    }
  } catch {
    // An invalid escape matches nothing.
    return undefined
  }
}

export interface ProxyId {
  /** '' if not specified. */
  scheme: '' | 'http' | 'https'
  name: string
  /** A number or a name; '' if not specified. */
  port: string
}

const singular: Record<ProxiedKind, string> = { pods: 'pod', services: 'service', nodes: 'node' }

/** Parses `scheme:name:port`. */
export function parseProxyId(kind: ProxiedKind, id: string): ProxyId {
  const parts = id.split(':')
  const [scheme, name, port] = parts.length === 3 ? parts : ['', ...parts]
  const isValid = parts.length <= 3 && name && (scheme === '' || scheme === 'http' || scheme === 'https')
  if (!isValid) throw badRequest(`invalid ${singular[kind]} request ${JSON.stringify(id)}`)
  return { scheme: scheme as ProxyId['scheme'], name, port: port ?? '' }
}

const verbs: Record<string, string> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** The authorization attempt of a proxied request. */
export function proxyAttempt({ kind, namespace, id }: ProxyPath, method: string): ResourceAttempt {
  const path = { group: '', version: 'v1', namespace, plural: kind, subresource: 'proxy', name: id }
  return { verb: verbs[method] ?? method.toLowerCase(), path }
}
