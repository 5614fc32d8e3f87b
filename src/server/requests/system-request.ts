import { turnsOf } from '../../base/clock.ts'
import type { UserInfo } from '../objects/objects.ts'
import type { Registered } from '../registry/registry.ts'
import type { ResourceRequest, ServerParts } from './request.ts'

/** The user of the server's own requests. */
const systemUser: UserInfo = { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }

/** A request by the server itself. */
export function systemRequest(
  server: ServerParts,
  target: Registered,
  namespace: string,
  name: string,
): ResourceRequest {
  return {
    server,
    target,
    namespace,
    name,
    subresource: '',
    query: new URLSearchParams(),
    user: systemUser,
    userAgent: 'kube-apiserver',
    body: { bytes: Buffer.alloc(0), contentType: undefined },
    warnings: [],
    rules: { gates: server.gates, now: server.clock.now(), user: systemUser },
    turns: turnsOf(server.clock),
    signal: () => new AbortController().signal,
  }
}
