import type { Client } from './client.ts'
import type { ResourceType } from './resource-type.ts'

/** A kind of object that a server serves. */
export interface ServedResource extends ResourceType {
  /** `deployment`; '' where the server does not say. */
  readonly singular: string
  /** `deploy` */
  readonly shortNames: readonly string[]
  readonly verbs: readonly string[]
  /** Whether this version of the resource is the one to be used by who has no wish. */
  readonly isPreferred: boolean
}

/** What a server serves; `failures` has a sentence for each version whose kinds are not known at the moment. */
export interface Discovered {
  readonly resources: readonly ServedResource[]
  readonly failures: readonly string[]
}

interface ResourceDiscovery {
  resource: string
  responseKind?: { kind: string }
  scope: string
  singularResource?: string
  shortNames?: string[]
  verbs: string[]
}

interface GroupDiscovery {
  metadata?: { name?: string }
  versions?: {
    version: string
    freshness?: string
    resources?: ResourceDiscovery[]
  }[]
}

const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** Asks a server for every kind that it serves, in all versions: two requests. */
export async function discover({ transport }: Client, signal?: AbortSignal): Promise<Discovered> {
  const ask = (path: string) => transport.send<{ items?: GroupDiscovery[] }>({ method: 'GET', path, accept, ...(signal ? { signal } : {}) })
  const [core, named] = await Promise.all([ask('/api'), ask('/apis')])
  if (!core.items || !named.items) throw new Error('the server does not tell of all its kinds at once: apidiscovery.k8s.io/v2 is needed')
  const resources: ServedResource[] = []
  const failures: string[] = []
  for (const { metadata, versions = [] } of [...core.items, ...named.items]) {
    const group = metadata?.name ?? ''
    const seen = new Set<string>()
    for (const { version, freshness, resources: served = [] } of versions) {
      if (freshness === 'Stale') failures.push(`${group}/${version}: stale GroupVersion discovery: ${group}/${version}`)
      for (const { resource: plural, responseKind, scope, singularResource: singular = '', shortNames = [], verbs } of served) {
        if (!responseKind?.kind) continue
        const names = { group, version, plural, kind: responseKind.kind, namespaced: scope === 'Namespaced', singular, shortNames }
        resources.push({ ...names, verbs, isPreferred: !seen.has(plural) })
        seen.add(plural)
      }
    }
  }
  return { resources, failures }
}
