import type { Clock } from '../../../base/clock.ts'
import type { MetricsRegistry } from '../../../base/metrics.ts'
import type { Objects } from '../../objects/objects.ts'
import { type Authorizer, allowEverything, denyEverything } from '../authorize.ts'
import { NodeAuthorizer } from './node-authorizer.ts'
import { NodeGraph } from './node-graph.ts'
import { RbacAuthorizer } from './rbac-authorizer.ts'
import { RbacIndex } from './rbac-index.ts'
import { UnionAuthorizer, counted, privilegedAuthorizer } from './union.ts'
import { WebhookAuthorizer, type WebhookSettings } from './webhook.ts'

export { type AuthorizerConfig, type WebhookConfig, defaultModes, parseAuthorizationConfig, parseModes } from './config.ts'
export type { WebhookSettings } from './webhook.ts'

/** Loaded when a file has conditions: expressions take time to load that nobody else needs. */
export const loadMatchConditions = () => import('./match-conditions.ts')

/** One authorizer of the chain. */
export type AuthorizerChoice = { type: 'Node' | 'RBAC' | 'AlwaysAllow' | 'AlwaysDeny' } | ({ type: 'Webhook' } & WebhookSettings)

export interface Authorization {
  authorizer: Authorizer
  /** The index of roles and bindings, which the checks against escalation read in every mode. */
  rbac: RbacIndex
  /** True if roles and bindings decide, so that the bootstrap ones have to be there. */
  usesRbac: boolean
}

/** Makes the chain of authorizers over what is stored. Members of system:masters are allowed before it is asked. */
export function makeAuthorization(choices: readonly AuthorizerChoice[], objects: Objects, clock: Clock, metrics: MetricsRegistry): Authorization {
  const rbac = RbacIndex.of(objects)
  const usesRbac = choices.some(({ type }) => type === 'RBAC')
  if (choices.length === 1 && choices[0]!.type === 'AlwaysAllow') return { authorizer: allowEverything, rbac, usesRbac }
  const chain = new UnionAuthorizer([privilegedAuthorizer, ...choices.map((choice) => authorizerOf(choice, objects, rbac, clock))])
  const attempts = metrics.counter('authorization_attempts_total', 'Counter of authorization attempts broken down by result.')
  const counts = { allowed: attempts.with({ result: 'allowed' }), denied: attempts.with({ result: 'denied' }), 'no-opinion': attempts.with({ result: 'no-opinion' }) }
  return { authorizer: counted(chain, counts), rbac, usesRbac }
}

function authorizerOf(choice: AuthorizerChoice, objects: Objects, rbac: RbacIndex, clock: Clock): Authorizer {
  switch (choice.type) {
    case 'Node':
      return new NodeAuthorizer(NodeGraph.of(objects))
    case 'RBAC':
      return new RbacAuthorizer(rbac)
    case 'AlwaysAllow':
      return allowEverything
    case 'AlwaysDeny':
      return denyEverything
    case 'Webhook':
      return new WebhookAuthorizer(choice, clock)
  }
}
