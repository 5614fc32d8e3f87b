import type { UserInfo } from '../../objects/objects.ts'

export const authenticatedGroup = 'system:authenticated'

/** The user of requests without credentials. */
export const anonymousUser: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

/** Paths that need no authentication. */
const openPaths = new Set(['/livez', '/readyz', '/healthz', '/version'])

/** True for the health and version paths and their subpaths, such as /livez/ping. */
export const isOpenPath = (path: string): boolean => openPaths.has(path.replace(/^(\/\w+)\/.*/, '$1'))

/** The `anonymous` section of an AuthenticationConfiguration. */
export interface AnonymousConfig {
  enabled: boolean
  /** Default: every path. */
  conditions?: readonly { path: string }[]
}

/** Returns a predicate for paths that allow anonymous requests. As in Kubernetes, a condition is an exact path. */
export function anonymousRule({ enabled, conditions }: AnonymousConfig): (path: string) => boolean {
  if (!enabled) return () => false
  if (!conditions?.length) return () => true
  const paths = new Set(conditions.map(({ path }) => path))
  return (path) => paths.has(path)
}
