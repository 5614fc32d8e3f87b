import type { ClientRequest, OutgoingHttpHeaders } from 'node:http'
import { type Agent, request as httpsRequest } from 'node:https'
import type { Random } from '../../base/random.ts'
import type { KeyPair } from '../auth/certificates.ts'
import type { ObjectReader, UserInfo } from '../objects/objects.ts'
import { resolveService } from '../proxy/service-endpoints.ts'
import type { Remote } from './remote.ts'

/** The means to reach extension API servers on behalf of users. */
export interface RemoteAccess {
  objects: ObjectReader
  random: Random
  /** The front proxy's client certificate. Extension API servers trust user headers from its holder. */
  proxyClient: KeyPair | undefined
  agent: Agent
}

interface RemoteRequestOptions {
  method: string
  /** Includes the query. */
  path: string
  headers?: OutgoingHttpHeaders
  user: UserInfo
  signal?: AbortSignal | undefined
  /** The request upgrades its connection, so it does not share one. */
  isUpgrade?: boolean
}

/** The headers that carry the user's identity. */
function identityHeaders({ name, uid, groups, extra = {} }: UserInfo): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { 'x-remote-user': name }
  if (uid) headers['x-remote-uid'] = uid
  if (groups.length) headers['x-remote-group'] = [...groups]
  for (const [key, values] of Object.entries(extra)) headers[`x-remote-extra-${encodeURIComponent(key)}`] = [...values]
  return headers
}

/**
 * Creates a request to an extension API server, which the caller ends, and the address of its endpoint. Throws if the
 * service has none.
 */
export function remoteRequest(
  { objects, random, proxyClient, agent }: RemoteAccess,
  { spec }: Remote,
  { method, path, headers, user, signal, isUpgrade }: RemoteRequestOptions,
): { request: ClientRequest; address: string } {
  const { name = '', namespace = '', port: servicePort = 443 } = spec.service!
  const { host, port } = resolveService({ name, namespace, port: servicePort }, objects, random)
  const serverName = `${name}.${namespace}.svc`
  const request = httpsRequest({
    method,
    path,
    host,
    port,
    headers: { ...headers, host: serverName, ...identityHeaders(user) },
    servername: serverName,
    rejectUnauthorized: !spec.insecureSkipTLSVerify,
    agent: isUpgrade ? false : agent,
    ...(spec.caBundle ? { ca: Buffer.from(spec.caBundle, 'base64').toString() } : {}),
    ...(proxyClient ? { cert: proxyClient.certificate, key: proxyClient.key } : {}),
    ...(signal ? { signal } : {}),
  })
  return { request, address: `${host}:${port}` }
}
