import type { ClientRequest, OutgoingHttpHeaders } from 'node:http'
import { type Agent, request as httpsRequest } from 'node:https'
import { ApiError } from '../../../api/errors.ts'
import type { KeyPair } from '../../auth/certificates.ts'

interface NodeRequestOptions {
  host: string
  port: number
  /** Includes the query. */
  path: string
  method: string
  headers?: OutgoingHttpHeaders
  signal?: AbortSignal
  /** An agent that keeps connections. Default: a connection for each request. */
  agent?: Agent
  /** The time limit for inactivity of the node. */
  timeoutMs: number
}

/** Names below localhost always mean this machine (RFC 6761). */
export const isLocalName = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost')

/** Creates a request to a kubelet, which the caller ends. Kubelets reject requests without the certificate. */
export function nodeRequest(
  identity: KeyPair | undefined,
  { host, port, timeoutMs, headers, agent, ...rest }: NodeRequestOptions,
): ClientRequest {
  // The header tells which node of a shared machine is meant.
  const request = httpsRequest({
    ...rest,
    host: isLocalName(host) ? '127.0.0.1' : host,
    port,
    headers: { ...headers, host: `${host}:${port}` },
    agent: agent ?? false,
    // Kubelets use self-signed certificates by default, as in Kubernetes. It is the kubelet that authenticates the
    // client.
    rejectUnauthorized: false,
    servername: '',
    ...(identity ? { cert: identity.certificate, key: identity.key } : {}),
  })
  request.setTimeout(timeoutMs, () => request.destroy(new Error('i/o timeout')))
  return request
}

/** The error for an unreachable kubelet. */
export const unreachable = (url: string, host: string, why: string): ApiError =>
  new ApiError(500, '', `Get "${url}": dial tcp ${host}: ${why}`)
