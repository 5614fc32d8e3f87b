import { badRequest } from '../../api/errors.ts'
import type { ResourceAttempt } from '../auth/authorize.ts'

export type ProxiedKind = 'pods' | 'services' | 'nodes'

/** What a path below a `proxy` subresource asks for. */
export interface ProxyPath {
  kind: ProxiedKind
  /** Empty for nodes. */
  namespace: string
  /** `name`, `name:port` or `scheme:name:port`. */
  id: string
  /** The path up to the end of `/proxy`, as it was sent. */
  root: string
  /** All that follows, as it was sent: empty, or it begins with a slash. */
  rest: string
}

const form = /^(\/api\/v1\/(?:namespaces\/([^/]+)\/(pods|services)|(nodes))\/([^/]+)\/proxy)(\/.*)?$/

/** Reads the path of a request, before the query. What is behind `/proxy` is another server's and stays as it is. */
export function parseProxyPath(path: string): ProxyPath | undefined {
  const found = form.exec(path)
  if (!found) return undefined
  const [, root = '', namespace = '', kind, nodes, id = '', rest = ''] = found
  try {
    return { kind: (kind ?? nodes) as ProxiedKind, namespace: decodeURIComponent(namespace), id: decodeURIComponent(id), root, rest }
  } catch {
    // A broken escape names nothing that exists.
    return undefined
  }
}

export interface ProxyId {
  /** Empty where nothing is said. */
  scheme: '' | 'http' | 'https'
  name: string
  /** A number or a name; empty where nothing is said. */
  port: string
}

const singular: Record<ProxiedKind, string> = { pods: 'pod', services: 'service', nodes: 'node' }

/** Splits `scheme:name:port`. */
export function parseProxyId(kind: ProxiedKind, id: string): ProxyId {
  const parts = id.split(':')
  const [scheme, name, port] = parts.length === 3 ? parts : ['', ...parts]
  const isValid = parts.length <= 3 && name && (scheme === '' || scheme === 'http' || scheme === 'https')
  if (!isValid) throw badRequest(`invalid ${singular[kind]} request ${JSON.stringify(id)}`)
  return { scheme: scheme as ProxyId['scheme'], name, port: port ?? '' }
}

const verbs: Record<string, string> = { GET: 'get', HEAD: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

/** What somebody needs the right to for a proxied request. */
export function proxyAttempt({ kind, namespace, id }: ProxyPath, method: string): ResourceAttempt {
  const path = { group: '', version: 'v1', namespace, plural: kind, subresource: 'proxy', name: id }
  return { verb: verbs[method] ?? method.toLowerCase(), path }
}
