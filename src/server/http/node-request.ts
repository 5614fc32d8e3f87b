import type { ClientRequest, OutgoingHttpHeaders } from 'node:http'
import { type Agent, request as httpsRequest } from 'node:https'
import { ApiError } from '../../api/errors.ts'
import type { KeyPair } from '../auth/certificates.ts'

export interface NodeRequestOptions {
  host: string
  port: number
  /** With its query. */
  path: string
  method: string
  headers?: OutgoingHttpHeaders
  signal?: AbortSignal
  /** Keeps connections; default: each request has one of its own. */
  agent?: Agent
  /** How long the node may be silent. */
  timeoutMs: number
}

/** Names below localhost are this machine's, whatever its resolver knows (RFC 6761). */
export const isLocalName = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost')

/** A request to the agent of a node, not yet ended. Nodes are shown the certificate; without one they answer nothing. */
export function nodeRequest(identity: KeyPair | undefined, { host, port, timeoutMs, headers, agent, ...rest }: NodeRequestOptions): ClientRequest {
  // Which of the machine's nodes is meant, the header says.
  const request = httpsRequest({
    ...rest,
    host: isLocalName(host) ? '127.0.0.1' : host,
    port,
    headers: { ...headers, host: `${host}:${port}` },
    agent: agent ?? false,
    // As Kubernetes by default: a node's certificate is its own. It is the node that has to know who asks.
    rejectUnauthorized: false,
    servername: '',
    ...(identity ? { cert: identity.certificate, key: identity.key } : {}),
  })
  request.setTimeout(timeoutMs, () => request.destroy(new Error('i/o timeout')))
  return request
}

/** What a client hears when the node's agent cannot be reached. */
export const unreachable = (url: string, host: string, why: string): ApiError => new ApiError(500, '', `Get "${url}": dial tcp ${host}: ${why}`)
