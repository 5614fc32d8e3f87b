import type { ClientRequest, OutgoingHttpHeaders } from 'node:http'
import { type Agent, request as httpsRequest } from 'node:https'
import type { Random } from '../../base/random.ts'
import type { KeyPair } from '../auth/certificates.ts'
import type { ObjectReader, UserInfo } from '../objects/objects.ts'
import { resolveService } from '../proxy/service-endpoints.ts'
import type { Remote } from './remote.ts'

/** Reaches other API servers, in the name of users. */
export interface RemoteAccess {
  objects: ObjectReader
  random: Random
  /** The certificate of the front proxy. Other servers believe headers about users of who shows it. */
  proxyClient: KeyPair | undefined
  agent: Agent
}

export interface RemoteRequestOptions {
  method: string
  /** With its query. */
  path: string
  headers?: OutgoingHttpHeaders
  user: UserInfo
  signal?: AbortSignal | undefined
  /** The request wants the connection for another protocol: it gets one of its own. */
  isUpgrade?: boolean
}

/** The headers that tell another API server who asks. */
export function identityHeaders({ name, uid, groups, extra = {} }: UserInfo): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { 'x-remote-user': name }
  if (uid) headers['x-remote-uid'] = uid
  if (groups.length) headers['x-remote-group'] = [...groups]
  for (const [key, values] of Object.entries(extra)) headers[`x-remote-extra-${encodeURIComponent(key)}`] = [...values]
  return headers
}

/** A request to another API server, not yet ended, and the address that it goes to. Throws where its service leads nowhere. */
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
