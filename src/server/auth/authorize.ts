import type { UserInfo } from '../objects/objects.ts'

/** What somebody wants to do with a resource: the part of a resolved request that decides whether they may. */
export interface ResourceAttempt {
  readonly verb: string
  readonly path: { group: string; version: string; namespace: string; plural: string; subresource: string; name: string }
}

/** Whether an attempt is let through, and why; neither allowed nor denied means that nobody had an opinion. */
export interface Decision {
  allowed: boolean
  denied?: boolean
  reason?: string
}

/** Decides who may do what. It answers a promise only where it has to ask somebody else. */
export interface Authorizer {
  authorize(user: UserInfo, attempt: ResourceAttempt): Decision | Promise<Decision>
}

const yes: Decision = { allowed: true }

/** Whoever is let in may do everything. */
export const allowEverything: Authorizer = { authorize: () => yes }

/** The sentence with which Kubernetes turns somebody away. */
export function refusalOf(user: UserInfo, { verb, path }: ResourceAttempt, { reason }: Decision): string {
  const { group, namespace, plural, subresource } = path
  const resource = subresource ? `${plural}/${subresource}` : plural
  const where = namespace ? `in the namespace ${JSON.stringify(namespace)}` : 'at the cluster scope'
  const what = `cannot ${verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(group)} ${where}`
  return `User ${JSON.stringify(user.name)} ${what}${reason ? `: ${reason}` : ''}`
}
