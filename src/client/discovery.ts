import type { Client } from './client.ts'
import type { ResourceType } from './resource-type.ts'

/** A kind of object that a server serves. */
export interface ServedResource extends ResourceType {
  /** `deployment`; '' if the server does not report it. */
  readonly singular: string
  /** `deploy` */
  readonly shortNames: readonly string[]
  readonly verbs: readonly string[]
  /** True for the preferred version of the resource. */
  readonly isPreferred: boolean
}

/** The resources of a server. `failures` has a sentence for each group version that could not be discovered. */
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

/** Discovers all resources in all versions with two requests. */
export async function discover({ transport }: Client, signal?: AbortSignal): Promise<Discovered> {
  const ask = (path: string) =>
    transport.send<{ items?: GroupDiscovery[] }>({ method: 'GET', path, accept, ...(signal ? { signal } : {}) })
  const [core, named] = await Promise.all([ask('/api'), ask('/apis')])
  if (!core.items || !named.items)
    throw new Error('the server does not support aggregated discovery: apidiscovery.k8s.io/v2 is required')
  const resources: ServedResource[] = []
  const failures: string[] = []
  for (const { metadata, versions = [] } of [...core.items, ...named.items]) {
    const group = metadata?.name ?? ''
    const seen = new Set<string>()
    for (const { version, freshness, resources: served = [] } of versions) {
      if (freshness === 'Stale') failures.push(`${group}/${version}: stale GroupVersion discovery: ${group}/${version}`)
      for (const {
        resource: plural,
        responseKind,
        scope,
        singularResource: singular = '',
        shortNames = [],
        verbs,
      } of served) {
        if (!responseKind?.kind) continue
        const names = {
          group,
          version,
          plural,
          kind: responseKind.kind,
          namespaced: scope === 'Namespaced',
          singular,
          shortNames,
        }
        resources.push({ ...names, verbs, isPreferred: !seen.has(plural) })
        seen.add(plural)
      }
    }
  }
  return { resources, failures }
}
