import { type Clock, turnsOf } from '../../../base/clock.ts'
import type { MetricsRegistry } from '../../../base/metrics.ts'
import type { ServerObjects } from '../../objects/objects.ts'
import { type Authorizer, allowEverything, denyEverything } from '../authorize.ts'
import { NodeAuthorizer } from './node-authorizer.ts'
import { NodeGraph } from './node-graph.ts'
import { RbacAuthorizer } from './rbac-authorizer.ts'
import { RbacIndex } from './rbac-index.ts'
import { UnionAuthorizer, counted, privilegedAuthorizer } from './union.ts'
import { WebhookAuthorizer, type WebhookSettings } from './webhook.ts'

export {
  type AuthorizerConfig,
  type WebhookConfig,
  defaultModes,
  parseAuthorizationConfig,
  parseModes,
} from './config.ts'

/** Loads CEL only if the configuration has match conditions. */
export const loadMatchConditions = () => import('./match-conditions.ts')

/** One authorizer of the chain. */
export type AuthorizerChoice =
  | { type: 'Node' | 'RBAC' | 'AlwaysAllow' | 'AlwaysDeny' }
  | ({ type: 'Webhook' } & WebhookSettings)

interface Authorization {
  authorizer: Authorizer
  /** The index of roles and bindings, which escalation checks use in every mode. */
  rbac: RbacIndex
  /** True if RBAC is enabled, so that the bootstrap roles must exist. */
  usesRbac: boolean
}

/** Creates the chain of authorizers. Members of system:masters are allowed before any of them. */
export function makeAuthorization(
  choices: readonly AuthorizerChoice[],
  objects: ServerObjects,
  clock: Clock,
  metrics: MetricsRegistry,
): Authorization {
  const rbac = RbacIndex.of(objects)
  const usesRbac = choices.some(({ type }) => type === 'RBAC')
  if (choices.length === 1 && choices[0]!.type === 'AlwaysAllow') return { authorizer: allowEverything, rbac, usesRbac }
  const chain = new UnionAuthorizer([
    privilegedAuthorizer,
    ...choices.map((choice) => authorizerOf(choice, objects, rbac, clock)),
  ])
  const attempts = metrics.counter(
    'authorization_attempts_total',
    'Counter of authorization attempts broken down by result.',
  )
  const counts = {
    allowed: attempts.with({ result: 'allowed' }),
    denied: attempts.with({ result: 'denied' }),
    'no-opinion': attempts.with({ result: 'no-opinion' }),
  }
  return { authorizer: counted(chain, counts), rbac, usesRbac }
}

function authorizerOf(choice: AuthorizerChoice, objects: ServerObjects, rbac: RbacIndex, clock: Clock): Authorizer {
  switch (choice.type) {
    case 'Node':
      return new NodeAuthorizer(NodeGraph.of(objects, turnsOf(clock)))
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
